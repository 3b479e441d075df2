import { afterEach, describe, expect, it } from '@jest/globals';
import OpenAI, { NotFoundError } from 'openai';
import { toPostedMessages } from '../../../api/openai/posted-messages.js';
import { takeRetryKey } from '../../../api/openai/retry-key.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { CompletionMessage } from '../../../protocol/openai.js';
import type { Requests } from '../../../stores/contract/requests.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { startApi, type ApiServer } from '../api-server.js';

const user = (content: string): CompletionMessage => ({ role: 'user', content });

describe('messages of a completion', () => {
  const post = (newest: CompletionMessage[], before: CompletionMessage[] = []) =>
    toPostedMessages({ newest, before, isNew: true, messagePrefix: 'p' });
  const quoteOf = (...before: CompletionMessage[]): string =>
    String(post([user('hi')], before)[0]?.parts?.[0]?.['text']);

  it('one more at the end is another content of the same message', () => {
    expect(post([user('a')]).at(-1)?.id).toBe('p-0');
    expect(post([user('a'), user('b')]).map(({ id }) => id)).toEqual(['p-1', 'p-0']);
  });

  it('of a long history the newest characters are quoted', () => {
    const most = LIMITS.userMessageBytes / 8;
    const long = `start${'x'.repeat(most)}end`;
    expect(quoteOf(user('older'), user(long))).toContain('xend');
    expect(quoteOf(user('older'), user(long))).not.toMatch(/start|older/);
    const split = quoteOf(user('older'), user('y'.repeat(most - 2)));
    expect(split).toContain('"er"');
    // A pair of surrogates is not halved.
    const pairs = quoteOf(user('\u{1f600}'), user('y'.repeat(most - 1)));
    expect(pairs.isWellFormed()).toBe(true);
  });
});

describe('a completion that its client repeats', () => {
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
  const take = (count: string | undefined, text = 'hi', userId = 'ann') =>
    takeRetryKey(requests, {
      caller: { userId },
      session: undefined,
      count,
      body: { model: 'lab', messages: [user(text)] },
    });

  it('has the key of the newest first try with its content and caller', async () => {
    const first = await take('0');
    expect(await take('1')).toBe(first);
    expect(await take('2')).toBe(first);
    expect(await take('1', 'other')).not.toBe(first);
    expect(await take('1', 'hi', 'bob')).not.toBe(first);
    const second = await take('0');
    expect(second).not.toBe(first);
    expect(await take('1')).toBe(second);
    // The first try has not arrived.
    const late = await take('1', 'never seen');
    expect(await take('2', 'never seen')).toBe(late);
    expect(await take(undefined)).toBeUndefined();
  });
});

describe('refusals of a completion', () => {
  let api: ApiServer | undefined;
  afterEach(() => api?.close());

  it('a model that does not exist is what the client takes for one', async () => {
    api = await startApi(createFakeRuntime());
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

  it.each([
    ['no JSON', '{"model":', 400, 'validation_error'],
    ['a list', '[]', 400, 'validation_error'],
    ['no messages', { model: 'lab' }, 400, 'validation_error'],
    ['an empty list of messages', { messages: [] }, 400, 'nothing_to_do'],
    [
      'instructions alone',
      { messages: [{ role: 'system', content: 'Obey.' }] },
      400,
      'nothing_to_do',
    ],
    ['a role of old', { messages: [{ role: 'function', content: 'x' }] }, 400, 'validation_error'],
    ['a text for stream', { messages: [user('hi')], stream: 'yes' }, 400, 'validation_error'],
    ['several choices', { messages: [user('hi')], n: 2 }, 400, 'validation_error'],
    [
      'an answer to nothing',
      { messages: [{ role: 'tool', content: '1' }] },
      400,
      'validation_error',
    ],
    [
      'an answer for a conversation that is not there',
      { messages: [{ role: 'tool', tool_call_id: 's9:c1', content: '1' }] },
      404,
      'not_found',
    ],
    [
      'a session that is no name',
      { messages: [user('hi')], metadata: { session_id: 5 } },
      400,
      'validation_error',
    ],
  ])('have the shape of OpenAI: %s', async (_what, body, status, code) => {
    api = await startApi(createFakeRuntime());
    const sent = typeof body === 'string' ? body : JSON.stringify({ model: 'lab', ...body });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${api.url}/v1/chat/completions`, {
      ...{ method: 'POST', headers, body: sent },
    });
    const message: unknown = expect.stringMatching(/./);
    expect([response.status, await response.json()]).toEqual([
      status,
      { error: { message, type: 'invalid_request_error', param: null, code } },
    ]);
    expect(response.headers.get('x-should-retry')).toBe('false');
  });
});

describe('the client of OpenAI in a browser', () => {
  let api: ApiServer | undefined;
  afterEach(() => api?.close());

  it('may send its headers from a listed origin, and read what it needs', async () => {
    const origin = 'https://app.test';
    api = await startApi(createFakeRuntime(), { allowedOrigins: [origin] });
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
});
