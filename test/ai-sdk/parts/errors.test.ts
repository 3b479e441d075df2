import {
  ConfigurationError,
  ExecutionError,
  FrontendHandlerError,
  handleChatStream,
  HelixStreamError,
  StreamCreationError,
  StreamFailedError,
  StreamNotFoundError,
  ValidationError,
  type HandleChatStreamParams,
} from '../../../ai-sdk/index.js';
import { createAsking, user } from '../reply/ask.js';

describe('errors of the chat handler', () => {
  it.each([
    [new ValidationError('x'), 'VALIDATION_ERROR', 400],
    [new StreamNotFoundError(), 'STREAM_NOT_FOUND', 404],
    [new StreamFailedError(), 'STREAM_FAILED', 410],
    [new ExecutionError(), 'EXECUTION_ERROR', 500],
    [new StreamCreationError(), 'STREAM_CREATION_ERROR', 500],
    [new ConfigurationError('x'), 'CONFIGURATION_ERROR', 501],
  ])('%s has code and status', (error, code, statusCode) => {
    expect(error).toBeInstanceOf(FrontendHandlerError);
    expect({ code: error.code, statusCode: error.statusCode }).toEqual({ code, statusCode });
  });

  it('errors of the chat handler keep details in their cause, and out of their message', async () => {
    const { stateStore, ...runtime } = createAsking();
    const secret = new Error('redis://:password@host');
    const sessions = { ...stateStore.sessions, read: () => Promise.reject(secret) };
    const asked = handleChatStream(
      { ...runtime, stateStore: { ...stateStore, sessions }, defaultAgent: 'lab' },
      { sessionId: 's1', messages: [user('u1')] },
    );
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExecutionError);
    expect((error as Error).message).not.toContain('password');
    expect((error as Error).cause).toBe(secret);
  });

  it('errors of the chat handler report that the agent is missing', async () => {
    const { executor, stateStore, streamManager } = createAsking();
    await expect(
      handleChatStream({ executor, stateStore, streamManager }, { sessionId: 's1', messages: [] }),
    ).rejects.toBeInstanceOf(ConfigurationError);
  });
});

it.each([
  { messages: [null] },
  { messages: [{ role: 'user', parts: [] }] },
  { messages: 'hi' },
  { messages: undefined },
  { messages: [user('u1')], trigger: 5 },
  { messages: [user('u1')], messageId: {} },
])('a malformed chat request is refused: %j', async (body) => {
  const params = { sessionId: 's1', ...body } as unknown as HandleChatStreamParams;
  const response = await handleChatStream({ ...createAsking(), defaultAgent: 'lab' }, params);
  // A stream would continue.
  if (response.status === 200) await response.body?.cancel();
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'validation_error' });
});

it.each([
  [{ errorText: 'x', code: 'provider_overloaded', recoverable: true }, true],
  [{ errorText: 'x', code: 'provider_rate_limited' }, true],
  [{ errorText: 'x', code: 'provider_unauthorized' }, false],
  [{ errorText: 'x', code: 'tool_of_mine', retryable: true }, true],
  [{ errorText: 'x', code: 'provider_overloaded', retryable: false }, false],
  [{ errorText: 'x' }, false],
  // As `data-error` has it.
  [{ error: 'x', code: 'provider_error', recoverable: false, retryable: true }, true],
])('HelixStreamError.fromEvent %j', (event, retryable) => {
  const error = HelixStreamError.fromEvent(event);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ message: 'x', retryable, name: 'HelixStreamError' });
});
