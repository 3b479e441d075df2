import OpenAI, { NotFoundError } from 'openai';
import { toCompletionEnd } from '../../../extensions/fronts/openai/completion.js';
import { toPostedMessages } from '../../../extensions/fronts/openai/conversation.js';
import { takeRetryKey } from '../../../extensions/fronts/openai/retry-key.js';
import type { UIStreamPart } from '../../../ai-sdk/index.js';
import type { Identity } from '../../../api/identity.js';
import { ReplyEnding, toUsageSince } from '../../../extensions/fronts/replies.js';
import { LIMITS } from '../../../protocol/limits.js';
import { HEADERS } from '../../../protocol/ids.js';
import type { CompletionMessage } from '../../../extensions/fronts/openai/protocol.js';
import type { Requests } from '../../../store/contract/requests.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import { drive } from '../../support/session-driver.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { greets, startApi } from '../../api/api-server.js';
import { connectOpenAI } from '../../support/openai-client.js';
import type { Play } from '../../support/played-turn.js';

const user = (content: string): CompletionMessage => ({ role: 'user', content });
const parts = (...content: object[]): object => ({ role: 'user', content });
const imageAt = (url: string): object => parts({ type: 'image_url', image_url: { url } });
const audioOf = (format: string): object => ({
  type: 'input_audio',
  input_audio: { data: 'AA', format },
});
const answer = (id: string): object => ({ role: 'tool', tool_call_id: id, content: '1' });
const GONE = [404, 'not_found'] as const;
const FILE_OF_OPENAI = { type: 'file', file: { file_id: 'file-1' } };

describe('messages of a completion', () => {
  const post = (newest: CompletionMessage[], before: CompletionMessage[] = []) =>
    toPostedMessages({ newest, before, isNew: true, messagePrefix: 'p' });
  const quoteOf = (...before: CompletionMessage[]): string =>
    String(post([user('hi')], before)[0]?.parts?.[0]?.['text']);

  it('one more at the end is another content of the same message', () => {
    expect(post([user('a')]).at(-1)?.id).toBe('p-0');
    expect(post([user('a'), user('b')]).map(({ id }) => id)).toEqual(['p-1', 'p-0']);
  });

  it('a refused one keeps no later one back', () => {
    const odd: CompletionMessage = { role: 'user', content: [{ type: 'hologram' }] };
    expect(post([odd, user('b')])).toMatchObject([{ id: 'p-0' }]);
    expect(() => post([user('b'), odd])).toThrow('"hologram" is not taken');
  });

  it('of a long history the newest characters are quoted', () => {
    const max = LIMITS.userMessageBytes / 8;
    const long = `start${'x'.repeat(max)}end`;
    expect(quoteOf(user('older'), user(long))).toContain('xend');
    expect(quoteOf(user('older'), user(long))).not.toMatch(/start|older/);
    const split = quoteOf(user('older'), user('y'.repeat(max - 2)));
    expect(split).toContain('"er"');
    // The cut does not halve a surrogate pair.
    const pairs = quoteOf(user('\u{1f600}'), user('y'.repeat(max - 1)));
    expect(pairs.isWellFormed()).toBe(true);
  });
});

it.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content-filter', 'content_filter'],
  // The reply waits for people, never for the client.
  ['tool-calls', 'stop'],
] as const)('a reply that ends with %s ends as %s', (reason, finish) => {
  const used = { pending: [], usage: { inputTokens: 1, outputTokens: 2 } };
  const end = toCompletionEnd('s1', { kind: 'finished', reason }, used);
  expect(end).toMatchObject({ finish, usage: { total_tokens: 3 } });
});

it('a reply ends with its first end, and a failure has the code that came before its message', () => {
  const endOf = (...parts: object[]): unknown => {
    const ending = new ReplyEnding();
    for (const part of parts) ending.accept(part as UIStreamPart);
    return ending.end;
  };
  const code = { type: 'data-error', data: { code: 'budget_exceeded' } };
  const error = { type: 'error', errorText: 'No.' };
  const finish = { type: 'finish', finishReason: 'stop' };
  const failed = { kind: 'failed', message: 'No.', code: 'budget_exceeded' };
  expect(endOf(code, error, { ...error, errorText: 'Later.' }, finish)).toEqual(failed);
  expect(endOf(finish, error)).toEqual({ kind: 'finished', reason: 'stop' });
});

it('what a run has used is told since the request before, and never against another run', () => {
  const at = (runId: string, inputTokens: number) =>
    ({ record: { runId, usage: { inputTokens, outputTokens: 1 } } }) as SessionCalls;
  expect(toUsageSince(at('s:1', 9), at('s:1', 4))).toMatchObject({ inputTokens: 5 });
  expect(toUsageSince(at('s:2', 3), at('s:1', 4))).toMatchObject({ inputTokens: 3 });
});

const claims = new Map<string, string>();
const requests: Pick<Requests, 'claim' | 'drop'> = {
  claim: (name, digest) => {
    const known = claims.get(name);
    if (known !== undefined) return Promise.resolve({ kind: 'known', digest: known });
    claims.set(name, digest);
    return Promise.resolve({ kind: 'new' });
  },
  drop: (name) => {
    claims.delete(name);
    return Promise.resolve();
  },
};
const take = (count: string | undefined, text = 'hi', userId = 'ann', tenantId = 'acme') =>
  takeRetryKey(requests, {
    caller: { userId, tenantId },
    session: undefined,
    count,
    body: { model: 'lab', messages: [user(text)] },
  });

it('a completion that its client repeats has the key of the newest first try with its content and caller', async () => {
  const first = await take('0');
  expect(await take('1')).toBe(first);
  expect(await take('2')).toBe(first);
  expect(await take('1', 'other')).not.toBe(first);
  expect(await take('1', 'hi', 'bob')).not.toBe(first);
  expect(await take('1', 'hi', 'ann', 'other')).not.toBe(first);
  const second = await take('0');
  expect(second).not.toBe(first);
  expect(await take('1')).toBe(second);
  // The first try has not arrived.
  const late = await take('1', 'never seen');
  expect(await take('2', 'never seen')).toBe(late);
  expect(await take(undefined)).toBeUndefined();
});

it("a message takes nothing of what a host's identity says beside the caller", async () => {
  const authenticate = (): Identity =>
    Object.assign({ userId: 'ann' }, { metadata: { of: 'host' } });
  const { post, stores } = await startApi({ authenticate });
  const body = { model: 'lab', messages: [user('hi')], stream: true };
  const reply = await post('/v1/chat/completions', body, { [HEADERS.sessionId]: 's1' });
  await reply.body?.cancel();
  const [row] = await stores.store.sessions.rows('s1', 0);
  expect(row).toMatchObject({ role: 'user' });
  expect(row).not.toHaveProperty('metadata');
});

it('a streamed reply whose API process dies is cut, and the same request gets it from another', async () => {
  const stores = createMemoryStores();
  const gate: { open?: () => void } = {};
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  const play: Play = async (turn) => {
    await turn.say('Half');
    await opened;
    await turn.say(' and half.');
    await turn.finish();
  };
  const [dying, other] = [await startApi({ stores, play }), await startApi({ stores, play })];
  const read = async (url: string, onText: () => void): Promise<string> => {
    const headers = { 'idempotency-key': 'k1' };
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const stream = await connectOpenAI(url, 's1').chat.completions.create(
      { model: 'lab', messages, stream: true },
      { headers },
    );
    let reply = '';
    for await (const { choices } of stream) {
      reply += choices[0]?.delta.content ?? choices[0]?.finish_reason ?? '';
      if (reply === 'Half') onText();
    }
    return reply;
  };
  await expect(read(dying.url, () => void dying.close())).rejects.toThrow('terminated');
  expect(await read(other.url, () => gate.open?.())).toBe('Half and half.stop');
  expect(await drive(stores, 's1').rows()).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
});

describe('refusals of a completion', () => {
  it('a model that does not exist is what the client takes for one', async () => {
    const api = await startApi();
    const client = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none' });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const about = { status: 404, code: 'model_not_found', type: 'invalid_request_error' };
    for (const model of ['missing', 'openai/gpt-5', 'toString']) {
      for (const ask of [
        () => client.chat.completions.create({ model, messages }),
        () => client.chat.completions.create({ model, messages, stream: true }),
        () => client.models.retrieve(model),
      ]) {
        const error: unknown = await ask().catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(NotFoundError);
        expect(error).toMatchObject({ ...about, param: null });
      }
    }
  });

  it.each<[what: string, body: unknown, status?: number, code?: string]>([
    ['no JSON', '{"model":'],
    ['a list', '[]'],
    ['no messages', { model: 'lab' }],
    ['an empty list of messages', { messages: [] }, 400, 'nothing_to_do'],
    ['instructions alone', { messages: [{ role: 'system', content: 'x' }] }, 400, 'nothing_to_do'],
    ['a role of old', { messages: [{ role: 'function', content: 'x' }] }],
    ['a text for stream', { messages: [user('hi')], stream: 'yes' }],
    ['several choices', { messages: [user('hi')], n: 2 }],
    ['an answer to nothing', { messages: [{ role: 'tool', content: '1' }] }],
    ['an answer for a conversation that is not there', { messages: [answer('s9:c1')] }, ...GONE],
    ['a session that is no name', { messages: [user('hi')], metadata: { session_id: 5 } }],
    ['answers of two conversations', { messages: [answer('s1:c1'), answer('s2:c1')] }, ...GONE],
    ['no choices', { messages: [user('hi')], n: 0 }],
    ['a text for n', { messages: [user('hi')], n: '1' }],
    ['a number for a model', { model: 5, messages: [user('hi')] }],
    ['a text for messages', { messages: 'hi' }],
    ['null for a message', { messages: [null] }],
    ['a message without a role', { messages: [{ content: 'hi' }] }],
    ['a message without content', { messages: [{ role: 'user' }] }],
    ['null for content', { messages: [{ role: 'user', content: null }] }],
    ['an empty text', { messages: [user('')] }],
    ['no parts', { messages: [{ role: 'user', content: [] }] }],
    ['a text for a part', { messages: [{ role: 'user', content: ['hi'] }] }],
    ['a text part without text', { messages: [parts({ type: 'text' })] }],
    ['a text part of a number', { messages: [parts({ type: 'text', text: 5 })] }],
    ['an image without an address', { messages: [parts({ type: 'image_url' })] }],
    ['an image of another host', { messages: [imageAt('https://evil.test/a.png')] }],
    ['an image of a file', { messages: [imageAt('file:///etc/passwd')] }],
    ['a file by the id of OpenAI', { messages: [parts(FILE_OF_OPENAI)] }],
    ['audio without a format', { messages: [parts({ type: 'input_audio', data: 'AA' })] }],
    ['audio of a malformed format', { messages: [parts(audioOf('wav;x="y",'))] }],
    ['a text for stream_options', { messages: [user('hi')], stream_options: 'usage' }],
    ['an answer to a call of no one', { messages: [{ role: 'tool', tool_call_id: 'c1' }] }],
  ])(
    'have the shape of OpenAI: %s',
    async (_what, body, status = 400, code = 'validation_error') => {
      const api = await startApi();
      const sent =
        typeof body === 'string' ? body : JSON.stringify({ model: 'lab', ...(body as object) });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${api.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: sent,
      });
      const message: unknown = expect.stringMatching(/./);
      expect([response.status, await response.json()]).toEqual([
        status,
        { error: { message, type: 'invalid_request_error', param: null, code } },
      ]);
      expect(response.headers.get('x-should-retry')).toBe('false');
    },
  );
});

const conversation = [
  { role: 'system', content: 'Obey.' },
  user('One.'),
  { role: 'assistant', content: 'Two.' },
  { role: 'developer', content: 'Obey.' },
  user('Three.'),
  { role: 'system', content: 'Obey.' },
  { ...user('Four.'), name: 'ann' },
];
const ignored = {
  temperature: 2,
  seed: 1,
  stop: ['x'],
  logprobs: true,
  user: 'u',
  unknown: { a: 1 },
  n: null,
  stream: null,
  stream_options: { include_usage: true },
  metadata: null,
  tools: [{ type: 'function', function: { name: 'pay', parameters: {} } }],
  tool_choice: 'required',
  response_format: { type: 'json_object' },
};

it('a completion with settings that an agent has no use for is answered, from what the user wrote after the last reply', async () => {
  const api = await startApi({ play: greets });
  const headers = { 'x-session-id': 's1' };
  const body = { model: 'lab', messages: conversation, ...ignored };
  const reply = await api.post('/v1/chat/completions', body, headers);
  expect(await reply.json()).toMatchObject({
    object: 'chat.completion',
    choices: [{ finish_reason: 'stop', message: { content: 'Hello.' } }],
    usage: { total_tokens: expect.any(Number) },
  });
  const all = await drive(api.stores, 's1').rows();
  const rows = all.filter(({ role }) => role === 'user');
  expect(rows).toMatchObject([
    { parts: [{ type: 'text', text: 'Three.' }] },
    { parts: [{ type: 'text', text: 'Four.' }] },
  ]);
  expect(JSON.stringify(rows)).not.toContain('Obey');
});

it('the client of OpenAI in a browser may send its headers from a listed origin, and read what it needs', async () => {
  const origin = 'https://app.test';
  const api = await startApi({ allowedOrigins: [origin] });
  const sent: string[] = [];
  const client = new OpenAI({
    baseURL: `${api.url}/v1`,
    apiKey: 'none',
    organization: 'o',
    project: 'p',
    defaultHeaders: { 'x-session-id': 's1', 'idempotency-key': 'k' },
    dangerouslyAllowBrowser: true,
    fetch: (_url, init) => {
      sent.push(...new Headers(init?.headers).keys());
      return Promise.resolve(Response.json({ choices: [] }));
    },
  });
  const body = { model: 'lab', messages: [{ role: 'user' as const, content: 'hi' }] };
  await client.chat.completions.create(body);
  await client.chat.completions
    .stream(body)
    .finalChatCompletion()
    .catch(() => undefined);
  const response = await fetch(`${api.url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  const list = (name: string): string[] => (response.headers.get(name) ?? '').split(/, ?/);
  const asks = sent.filter((name) => name !== 'accept' && name !== 'content-length');
  expect(list('access-control-allow-headers')).toEqual(expect.arrayContaining(asks));
  expect(list('access-control-expose-headers')).toEqual(
    expect.arrayContaining(['x-session-id', 'x-should-retry']),
  );
});
