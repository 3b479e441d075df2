import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HelixError } from '../../protocol/errors.js';
import { createGateway } from 'ai';
import { createStepReply } from '../../activities/model/step-reply.js';
import { apiError, parts } from '../support/fake-model.js';
import {
  parseRetryAfter,
  RequestFault,
  isOfPrompt,
  toProviderFailure,
} from '../../activities/model/provider-failure.js';

function refusal(statusCode?: number, responseHeaders?: Record<string, string>): APICallError {
  return new APICallError({
    message: 'secret detail',
    url: 'http://model',
    requestBodyValues: {},
    ...(statusCode !== undefined && { statusCode }),
    ...(responseHeaders !== undefined && { responseHeaders }),
  });
}

const NEVER = { 'x-should-retry': 'false' };
const quota = apiError(429, {
  message: 'x',
  responseBody: '{"error":{"code":"insufficient_quota"}}',
});
const other = new TypeValidationError({ value: {}, cause: new Error('x') });
const addressFault = Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
const coded = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

describe('a failure of the provider', () => {
  it.each([
    ['429', refusal(429), 'provider_rate_limited', true],
    ['503', refusal(503), 'provider_overloaded', true],
    ['529', refusal(529), 'provider_overloaded', true],
    ['500', refusal(500), 'provider_error', true],
    ['502', refusal(502), 'provider_error', true],
    ['408', refusal(408), 'provider_error', true],
    ['409', refusal(409), 'provider_error', true],
    ['no status', refusal(), 'provider_error', true],
    ['401', refusal(401), 'provider_unauthorized', false],
    ['403', refusal(403), 'provider_unauthorized', false],
    ['400', refusal(400), 'provider_invalid_request', false],
    ['404', refusal(404), 'provider_invalid_request', false],
    ['422', refusal(422), 'provider_invalid_request', false],
    ['200 with a broken body', refusal(200), 'provider_bad_reply', true],
    ['an order to try again', refusal(400, { 'x-should-retry': 'true' }), 'provider_error', true],
    ['429, not to be tried', refusal(429, NEVER), 'provider_rate_limited', false],
    ['500, not to be tried', refusal(500, NEVER), 'provider_error', false],
    ['a used up quota', quota, 'provider_quota_exhausted', false],
    [
      'cut JSON',
      new JSONParseError({ text: '{"a', cause: new Error('x') }),
      'provider_bad_reply',
      true,
    ],
    ['an empty body', new EmptyResponseBodyError(), 'provider_bad_reply', true],
    ['a cut stream', new RequestFault('provider_stream_cut'), 'provider_stream_cut', true],
    ['a failed fetch', new TypeError('fetch failed'), 'provider_error', true],
    ['a system error', coded, 'provider_error', true],
    ['one that is wrapped', new Error('x', { cause: coded }), 'provider_error', true],
    ['a chunk of another form', other, 'provider_bad_reply', true],
    ['a bug', new Error('x'), 'model_request_failed', false],
    ['a fault of a program', new TypeError('x is undefined'), 'model_request_failed', false],
    ['an address that is none', addressFault, 'model_request_failed', false],
    [
      'a missing file',
      Object.assign(new Error('x'), { code: 'ENOENT' }),
      'model_request_failed',
      false,
    ],
    ['a missing key', new LoadAPIKeyError({ message: 'secret' }), 'model_not_configured', false],
    ['a store that is away', new HelixError('unavailable', 'Not there.'), 'unavailable', true],
    [
      'a certificate',
      Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }),
      'provider_error',
      true,
    ],
    ['a text in the stream', 'text', 'provider_error', true],
    ['an object in the stream', { type: 'overloaded_error' }, 'provider_error', true],
    [
      'a refusal in the stream',
      { type: 'invalid_request_error' },
      'provider_invalid_request',
      false,
    ],
    [
      'a refused key in the stream',
      { type: 'authentication_error' },
      'provider_unauthorized',
      false,
    ],
    ['a quota', { error: { type: 'insufficient_quota' } }, 'provider_quota_exhausted', false],
    ['a status in the stream', { statusCode: 529, message: 'x' }, 'provider_overloaded', true],
    ['a status below', { error: { statusCode: 400 } }, 'provider_invalid_request', false],
  ] as [string, unknown, string, boolean][])('of %s is typed', (_, error, code, retryable) => {
    const failure = toProviderFailure(error);
    expect(failure).toMatchObject({ code, retryable });
    expect(failure.message).not.toContain('secret');
  });

  it.each<[string, unknown, string]>([
    ['data that contradict', new InvalidResponseDataError({ data: {} }), 'provider_bad_stream'],
    ['a part that is none', new TypeError('x is null'), 'provider_bad_stream'],
    ['what its provider says', new Error('x'), 'provider_error'],
    ['a connection that breaks', new TypeError('terminated'), 'provider_error'],
  ])('in the middle of a reply, %s is typed', (_, error, code) => {
    expect(toProviderFailure(error, true).code).toBe(code);
  });

  it.each([
    ['neither reason nor usage', undefined, 0, 'error'],
    ['a reason of its own', 'insufficient_resources', 0, 'other'],
    ['usage', undefined, 5, 'other'],
  ])('a stream that its package ends as other, with %s', (_, raw, total, reason) => {
    const reply = createStepReply({ agentId: 's', agentType: 'a', step: 1 }, new Set(), Date.now);
    for (const part of parts.finish('other')) {
      if (part.type !== 'finish') continue;
      const outputTokens = { total, text: undefined, reasoning: undefined };
      const usage = { ...part.usage, outputTokens };
      reply.accept({ ...part, finishReason: { unified: 'other', raw }, usage });
    }
    expect(reply.finish()?.reason).toBe(reason);
  });

  it('a stream that its package finds cut may be asked for again', async () => {
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }];
    const provider = createOpenAICompatible({
      name: 'other',
      baseURL: 'https://model.example',
      fetch: () => Promise.resolve(new Response(`data: ${JSON.stringify({ choices })}\n\n`)),
    });
    const { stream } = await provider('m').doStream({ prompt: [] });
    const errors: unknown[] = [];
    for await (const part of stream) if (part.type === 'error') errors.push(part.error);
    const found = errors.map((error) => toProviderFailure(error, true));
    expect(found).toMatchObject([{ code: 'provider_stream_cut', retryable: true }]);
  });

  it('only a model that was not reached is said not to be reached', () => {
    const reached = [
      refusal(500),
      refusal(200),
      new Error('x'),
      'text',
      new EmptyResponseBodyError(),
    ];
    for (const error of reached) expect(toProviderFailure(error).message).not.toMatch(/reached/);
    for (const error of [refusal(), coded, new TypeError('fetch failed')]) {
      expect(toProviderFailure(error).message).toBe('The model could not be reached.');
    }
  });

  it('a failure of the provider carries the time to wait', () => {
    expect(toProviderFailure(refusal(429, { 'retry-after': '2' })).retryAfterMs).toBe(2_000);
    expect(toProviderFailure(refusal(503, { 'retry-after-ms': '7' })).retryAfterMs).toBe(7);
    expect(toProviderFailure(refusal(500))).not.toHaveProperty('retryAfterMs');
  });
});

it.each([
  ['prompt is too long: 210000 tokens > 200000 maximum', 'prompt_too_long'],
  ['input length and `max_tokens` exceed context limit: 190000 + 32000', 'prompt_too_long'],
  ["This model's maximum context length is 128000 tokens.", 'prompt_too_long'],
  ["This model's maximum prompt length is 131072 but it has 140000", 'prompt_too_long'],
  ['The input token count (1200000) exceeds the maximum number of tokens', 'prompt_too_long'],
  ['Input is too long for requested model.', 'prompt_too_long'],
  ["Invalid 'input[2].call_id': string too long.", 'prompt_name_refused'],
  ["Invalid 'input[2].name': string does not match pattern.", 'prompt_name_refused'],
  ['Invalid function name. Must start with a letter', 'prompt_name_refused'],
  ['does not support assistant message prefill', 'prompt_order_refused'],
  ['tool_use ids were found without tool_result blocks', 'prompt_order_refused'],
  ['No tool output found for function call call_1.', 'prompt_order_refused'],
  ["Item 'rs_1' of type 'reasoning' was provided without its required", 'prompt_order_refused'],
  ['Invalid `signature` in `thinking` block', 'prompt_order_refused'],
  ['a function call turn comes immediately after a user turn', 'prompt_order_refused'],
  ['Unsupported MIME type: application/zip', 'prompt_file_refused'],
  ['image exceeds 5 MB maximum', 'prompt_file_refused'],
  ["Unsupported parameter: 'reasoning.effort' is not supported", 'provider_settings_refused'],
  ['max_tokens must be greater than thinking.budget_tokens', 'provider_settings_refused'],
  ['max_tokens: 900000 is too large', 'provider_settings_refused'],
  ["'temperature' is not supported; see the documents at x", 'provider_settings_refused'],
  ["Invalid schema for function 'f': name must match pattern", 'provider_settings_refused'],
  ['Your credit balance is too low to access the API.', 'provider_quota_exhausted'],
  ['API key not valid. Please pass a valid API key.', 'provider_unauthorized'],
  ['The response was filtered', 'provider_invalid_request'],
])('what a provider says about a prompt "%s" is %s', (message, code) => {
  const responseBody = JSON.stringify({ error: { type: 'invalid_request_error', message } });
  const about = { url: 'http://model', requestBodyValues: {}, statusCode: 400, responseBody };
  const failure = toProviderFailure(new APICallError({ message, ...about }));
  expect(failure).toMatchObject({ code, retryable: false });
  expect(failure.message).not.toContain(message);
  // Only what is about the conversation is left out of the next prompt.
  const isOfConversation = code.startsWith('prompt_') || code === 'provider_invalid_request';
  expect(isOfPrompt(code)).toBe(isOfConversation);
});

it.each([
  [429, 'rate_limit_exceeded', 'provider_rate_limited', true],
  [500, 'internal_server_error', 'provider_error', true],
  [503, 'internal_server_error', 'provider_overloaded', true],
  [408, 'timeout_error', 'provider_error', true],
  [401, 'authentication_error', 'provider_unauthorized', false],
  [400, 'invalid_request_error', 'provider_invalid_request', false],
  [404, 'model_not_found', 'provider_unknown_model', false],
] as const)(
  'a failure of the AI Gateway with status %d is typed',
  async (status, type, code, retryable) => {
    const gateway = createGateway({
      apiKey: 'secret',
      fetch: () =>
        Promise.resolve(
          Response.json(
            { error: { message: 'secret detail', type } },
            { status, headers: { 'retry-after': '3' } },
          ),
        ),
    });
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] }];
    const error: unknown = await Promise.resolve(gateway('a/b').doStream({ prompt })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).not.toBeInstanceOf(APICallError);
    const failure = toProviderFailure(error);
    expect(failure).toMatchObject({ code, retryable });
    expect(failure.message).not.toContain('secret');
    if (retryable) expect(failure.retryAfterMs).toBe(3_000);
  },
);

const now = Date.parse('2026-01-01T00:00:00Z');
it.each([
  [undefined, undefined],
  [{}, undefined],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, 3_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': '40', 'retry-after': '9' }, 40],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
  [{ 'retry-after-ms': '-1', 'retry-after': '9' }, 9_000],
] as [Record<string, string> | undefined, number | undefined][])(
  'parseRetryAfter of %j is %j ms',
  (headers, ms) => {
    expect(parseRetryAfter(headers, now)).toBe(ms);
  },
);
