import { LIMITS } from '../../protocol/limits.js';
import { untilEnded } from '../support/chat-client.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { openTestStores } from '../support/test-stores.js';

/** Named bad inputs against a real Redis: cases that a fuzzer would find too rarely. */
const product = useLocalProduct({ openStores: openTestStores });

const text = (value: string): object => ({ type: 'text', text: value });
const user = (id: string, ...parts: object[]): object => ({ id, role: 'user', parts });

interface Answer {
  status: number;
  body: string;
  code: string | undefined;
}

async function send(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${product.url}/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const answered = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const code = isJson ? (JSON.parse(answered) as { code?: string }).code : undefined;
  return { status: response.status, body: answered, code };
}

const post = (sessionId: string, ...messages: object[]): Promise<Answer> =>
  send(`chat/${sessionId}?agent=lab`, JSON.stringify({ messages }));

async function read(sessionId: string): Promise<{ id: string; parts: unknown[] }[]> {
  const response = await fetch(`${product.url}/api/chat/${sessionId}/messages`);
  return ((await response.json()) as { messages: { id: string; parts: unknown[] }[] }).messages;
}

async function expectAnswered(answer: Answer): Promise<void> {
  expect([answer.status, answer.code]).toEqual([200, undefined]);
  expect(answer.body).toContain('data: [DONE]');
}

it('ids with line breaks, NUL or lone surrogates end no header and no key', async () => {
  for (const odd of ['u\r\nx-evil: 1', 'u\u0000', 'u\ud800', '\u2028', '__proto__', 'hx:{x}']) {
    const id = newSessionId();
    await expectAnswered(await post(id, user(odd, text('hi'))));
    // The server does not answer a repeated message twice.
    await expectAnswered(await post(id, user(odd, text('hi'))));
    expect(await read(id)).toHaveLength(2);
  }
});

describe('messages', () => {
  it('messages of 10,000 parts are accepted, and returned complete', async () => {
    const id = newSessionId();
    const parts = Array.from({ length: 10_000 }, (_, n) => text(`part ${String(n)}`));
    await expectAnswered(await post(id, user('u1', ...parts)));
    expect((await read(id))[0]?.parts).toHaveLength(10_000);
  });

  it('messages with odd characters are returned unchanged, except for invalid text', async () => {
    const id = newSessionId();
    const odd = 'a\u0000b\r\nc\u2028d 💥 \u202e"\\ {{x}} ${y} </script>';
    await expectAnswered(await post(id, user('u1', text(odd))));
    expect((await read(id))[0]?.parts).toEqual([text(odd)]);
    const lone = newSessionId();
    await expectAnswered(await post(lone, user('u1', text('a\ud800b'))));
    expect(await read(lone)).toHaveLength(2);
  });
});

it('answers of the maximum depth are stored and shown, with keys of prototypes and NUL', async () => {
  const id = newSessionId();
  const script = JSON.stringify({
    script: [{ calls: [{ tool: 'locate', id: 'c1', args: {} }] }],
  });
  await expectAnswered(await post(id, user('u1', text(script))));
  const deep = `${'['.repeat(LIMITS.jsonDepth - 3)}1${']'.repeat(LIMITS.jsonDepth - 3)}`;
  const answer = await send(
    `chat/${id}/pending/c1`,
    `{"result":{"deep":${deep},"nul":"\\u0000","__proto__":{"polluted":1}}}`,
  );
  expect(answer.status).toBe(202);
  const shown = await untilEnded(product.url, id);
  expect(JSON.stringify(shown)).toContain('"deep":[[[[');
});
