import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { handleChatStream } from '../../ai-sdk/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { parseFrames } from '../support/chat-fetch.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { useRuns } from '../support/run-harness.js';
import { drive, userMessage } from '../support/session-driver.js';
import { decideResume } from '../../runs/reruns.js';
import { until } from '../support/until.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { snapshotOf } from '../support/snapshot-of.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Prompts of the model, by session. */
const asked = new Map<string, LanguageModelV4Prompt[]>();

/**
 * Says a word and hangs as often as the message wishes, then asks for approval if wished, then
 * ends.
 */
const model = fakeModel((_, { prompt, abortSignal, providerOptions }) => {
  const { sessionId = '' } = (providerOptions?.['helix'] ?? {}) as { sessionId?: string };
  const prompts = [...(asked.get(sessionId) ?? []), prompt];
  asked.set(sessionId, prompts);
  const isOfUser = ({ role, providerOptions }: (typeof prompt)[number]): boolean =>
    role === 'user' && providerOptions?.['helix'] === undefined;
  const text = JSON.stringify(prompt.findLast(isOfUser)?.content);
  const wish = /hang (\d)/.exec(text)?.[1];
  if (prompts.length <= Number(wish ?? 0)) return hang(prompts.length, abortSignal);
  const wantsApproval = text.includes('approve') && prompt.every(({ role }) => role !== 'tool');
  if (wantsApproval) return parts.asks(parts.call(`${sessionId}-c`, 'charge', {}));
  return parts.says(' and so on.');
});

async function* hang(
  n: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: `Word ${String(n)}` };
  await new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
}

const agent = fakeAgent('resumer', model, {
  tools: [fakeTool('charge', () => 'charged', { requireApproval: true })],
});

const { runs, stores } = useRuns([agent]);

/** Stops the run at the model's nth word and waits for its end. */
async function interruptAtWord(sessionId: string, n: number): Promise<void> {
  await until(`word ${String(n)} is sent`, async () =>
    JSON.stringify(await stores.streamManager.getAllChunks(sessionId)).includes(
      `Word ${String(n)}`,
    ),
  );
  await runs.executor.stop(sessionId, { mode: 'interrupt' });
  await runs.untilStatus(sessionId, 'interrupted');
}

/** Returns a new conversation id as the store knows it. */
const newId = (): string => toStoredSessionId(runs.newSessionId(), 'acme');

async function attach(storedId: string): Promise<string> {
  const sessionId = storedId.slice(storedId.indexOf('~') + 1);
  const response = await handleChatStream(
    { ...stores, executor: { runs: runs.executor }, agents: { has: () => true } },
    {
      sessionId,
      messages: [],
      userId: 'ann',
      tenantId: 'acme',
      request: { method: 'GET', headers: new Headers() },
    },
  );
  return response.text();
}

function textsOf(stream: string): string[] {
  const texts = new Map<string, string>();
  for (const { part } of parseFrames(stream)) {
    const { type, id, delta } = part as { type: string; id: string; delta: string };
    if (type === 'text-delta') texts.set(id, (texts.get(id) ?? '') + delta);
  }
  return [...texts.values()];
}

it.each([
  ['starting', { reason: 'running', modes: [] }],
  ['running', { reason: 'running', modes: [] }],
  ['waiting_children', { reason: 'running', modes: [] }],
  ['waiting_approval', { reason: 'waiting', modes: ['with_message'] }],
  ['waiting_tool', { reason: 'waiting', modes: ['with_message'] }],
  ['completed', { reason: 'completed', modes: ['with_message', 'retry'] }],
  ['aborted', { reason: 'aborted', modes: ['with_message', 'retry'] }],
  ['failed', { reason: 'failed', modes: ['with_message', 'retry'] }],
] as const)('a run that is %s is not resumed: %j', (status, why) => {
  expect(decideResume({ status })).toEqual({ canResume: false, ...why });
});

it('what is not there is not resumed, and what may pass is, from a checkpoint too', () => {
  const error = { code: 'x', message: 'x', retryable: true };
  expect(decideResume(undefined)).toMatchObject({ canResume: false, reason: 'not_found' });
  expect(decideResume({ status: 'failed', error, checkpointId: 'c' })).toEqual({
    canResume: true,
    modes: ['continue', 'with_confirmation', 'with_message', 'retry', 'from_checkpoint'],
  });
});

describe('resume', () => {
  it('resume continues after a cut reply: the model sees it, and people see one message', async () => {
    const id = newId();
    const run = await runs.begin(id, agent.name, 'hang 1');
    await interruptAtWord(id, 1);
    expect(await runs.executor.canResume(id)).toMatchObject({ canResume: true });
    const resumed = await runs.executor.resume({ sessionId: id, by: 'ann' });
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    // A client that attaches now skips the first run's end and stops at the second's.
    const stream = await attach(id);
    expect(textsOf(stream)).toEqual(['Word 1', ' and so on.']);
    expect(parseFrames(stream).filter(({ part }) => part['type'] === 'finish')).toHaveLength(1);
    expect(await runs.result(resumed.run)).toEqual({ status: 'completed', steps: 2 });
    // Providers refuse a conversation that ends with the model's own message.
    expect(asked.get(id)?.[1]?.slice(-2)).toMatchObject([
      { role: 'assistant', content: [{ type: 'text', text: 'Word 1' }] },
      { role: 'user', providerOptions: { helix: { internal: true } } },
    ]);
    const snapshot = await snapshotOf(stores, id);
    expect(snapshot?.messages).toHaveLength(2);
    expect(snapshot?.messages[1]).toEqual({
      id: run.messageId,
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'Word 1', state: 'done' },
        { type: 'step-start' },
        { type: 'text', text: ' and so on.', state: 'done' },
      ],
      // The marker is cleared, because the message is complete now.
      metadata: { helixInterrupted: null },
    });
    expect(await runs.executor.canResume(id)).toMatchObject({
      canResume: false,
      reason: 'completed',
    });
    await expect(runs.executor.resume({ sessionId: id })).rejects.toMatchObject({
      code: 'not_resumable',
    });
  });

  it('a message that resumes leads to the run it has begun, however often it is sent', async () => {
    const memory = createMemoryStores();
    const session = drive(memory);
    const { resume } = createIdleRuns(memory);
    const { runId } = await session.newRun('u1');
    await session.end(runId, 'interrupted');
    const messages = [userMessage('u2')];
    const input = { sessionId: session.id, mode: 'with_message' as const, messages };
    const resumed = await resume(input);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    const active = { kind: 'active', runId: resumed.run.runId };
    expect(await resume(input)).toEqual(active);
    await session.end(resumed.run.runId, 'completed');
    expect(await resume(input)).toEqual(active);
  });

  it('a message that resumes is refused where another agent has the conversation by now', async () => {
    const memory = createMemoryStores();
    const session = drive(memory);
    const before = async () => {
      await memory.store.sessions.erase(session.id);
      await session.begin({ agent: 'another' });
      return undefined;
    };
    const { resume } = createIdleRuns(memory, { extensions: [{ name: 'race', before }] });
    await session.end((await session.newRun('u1')).runId, 'interrupted');
    const messages = [userMessage('u2')];
    await expect(
      resume({ sessionId: session.id, mode: 'with_message', messages }),
    ).rejects.toMatchObject({ code: 'agent_mismatch', detail: { agent: 'another' } });
  });

  it('the sweeper starts a resumed run whose workflow was never started', async () => {
    const id = newId();
    await runs.begin(id, agent.name, 'hang 1');
    await interruptAtWord(id, 1);
    await stores.store.runs.resume({
      sessionId: id,
      nonce: 'n',
      mode: 'continue',
      now: Date.now(),
    });
    await runs.sweep(id);
    await runs.untilStatus(id, 'completed');
    expect(await stores.store.sessions.rows(id, 1)).toMatchObject([{ step: 1 }, { step: 2 }]);
  });
});
