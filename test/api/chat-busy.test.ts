import { randomBytes } from 'node:crypto';
import {
  CLIENT_7,
  loadSnapshot,
  openChat,
  textOf,
  type ChatClient,
} from '../support/chat-client.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { useLocalProduct } from '../support/local-product.js';
import { readSse, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const { agent, open, reached } = createGatedAgent();
const api = useLocalProduct({ agents: [agent] });

function shown(client: Pick<ChatClient, 'messages'>): string[] {
  return client.messages().map((message) => `${message.id} ${textOf(message)}`);
}

function post(
  sessionId: string,
  id: string,
  text: string,
  busy: string,
  signal?: AbortSignal,
): Promise<SseReader> {
  const message = { id, role: 'user', parts: [{ type: 'text', text }] };
  return readSse(`${api.url}/api/chat/${sessionId}?agent=${agent.name}&busy=${busy}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [message] }),
    ...(signal && { signal }),
  });
}

const newId = (): string => randomBytes(6).toString('hex');
const queuePath = (sessionId: string): string => `/api/chat/${sessionId}/queue`;

/** Returns what both pages show after the second sends a message during the first reply. */
async function talkAtOnce(
  verb: string,
  busy: string,
): Promise<{ sessionId: string; first: ChatClient; second: ChatClient }> {
  const [sessionId, gate] = [newId(), newId()];
  const options = { url: api.url, sessionId, agent: agent.name };
  const first = openChat(CLIENT_7, options);
  const firstReply = first.chat.sendMessage({ text: `${verb} ${gate}` });
  await reached(gate);
  const { messages } = await loadSnapshot(api.url, sessionId);
  const second = openChat(CLIENT_7, { ...options, messages });
  const secondReply = second.chat.sendMessage({ text: 'hello' }, { body: { busy } });
  await until('it waits', async () => (await loadSnapshot(api.url, sessionId)).queue?.length === 1);
  open(gate);
  await Promise.all([firstReply, secondReply]);
  expect([first.errors, second.errors]).toEqual([[], []]);
  return { sessionId, first, second };
}

it.each([
  ['its tools', 'call'],
  ['its last words', 'speak'],
])(
  'two pages show one bubble for each message when the second one steers a run at %s',
  async (_where, verb) => {
    const { sessionId, first, second } = await talkAtOnce(verb, 'steer');
    expect([first.posts(), second.posts()]).toEqual([1, 1]);
    expect(first.messages().map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(shown(second).at(-1)).toBe('msg-3 You said hello');
    expect(second.messages()).toHaveLength(3);
    const stored = await loadSnapshot(api.url, sessionId);
    expect(stored.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(stored.messages[1]).toEqual(first.messages()[1]);
    expect(stored.messages[3]).toEqual(second.messages()[2]);
    const runIds = [first, second].map(({ requests }) => requests[0]?.headers?.get('x-run-id'));
    expect(runIds[0]).toBe(runIds[1]);
  },
);

describe('the queue over HTTP', () => {
  it('the queue is listed, edited, and emptied one by one and at once, and its posts end without a message', async () => {
    const [sessionId, gate] = [newId(), newId()];
    const running = await post(sessionId, 'u1', `speak ${gate}`, 'reject');
    await reached(gate);
    expect((await post(sessionId, 'u2', 'no', 'reject')).status).toBe(409);
    const waiting = await Promise.all(
      ['a', 'b', 'c'].map((id) => post(sessionId, id, `text of ${id}`, 'queue')),
    );
    const { run } = await loadSnapshot(api.url, sessionId);
    for (const { headers } of waiting) expect(headers.get('x-run-id')).toBe(run?.runId);
    const list = async (response: Promise<Response>): Promise<unknown[]> =>
      ((await (await response).json()) as { queue: unknown[] }).queue;
    expect(await list(fetch(api.url + queuePath(sessionId)))).toHaveLength(3);
    const edit = (id: string): Promise<Response> =>
      fetch(api.url + queuePath(sessionId), {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id, text: 'better' }),
      });
    const remove = (id?: string): Promise<Response> =>
      fetch(`${api.url}${queuePath(sessionId)}${id === undefined ? '' : `?id=${id}`}`, {
        method: 'DELETE',
      });
    expect(await list(edit('a'))).toContainEqual(
      expect.objectContaining({
        id: 'a',
        mode: 'queue',
        messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'better' }] }],
      }),
    );
    expect((await edit('unknown')).status).toBe(404);
    expect((await remove('unknown')).status).toBe(404);
    expect(await list(remove('b'))).toHaveLength(2);
    expect(await waiting[1]?.done).toBe('ended');
    expect(waiting[1]?.parts.filter(({ type }) => !type.startsWith('data-'))).toEqual([
      { type: 'finish', finishReason: 'other' },
    ]);
    expect(await list(remove())).toEqual([]);
    await Promise.all(waiting.map(({ done }) => done));

    // A removed message counts as new; two posts of it wait as one, and both clients see its reply.
    const twice = await Promise.all([1, 2].map(() => post(sessionId, 'b', 'text of b', 'queue')));
    expect(await list(fetch(api.url + queuePath(sessionId)))).toHaveLength(1);
    open(gate);
    expect(await running.done).toBe('ended');
    expect(running.text()).toBe('Once upon a time');
    await Promise.all(twice.map(({ done }) => done));
    expect(twice.map((reader) => reader.text())).toEqual(Array(2).fill('You said text of b'));
    expect(twice.map(({ parts }) => parts.filter(({ type }) => type === 'start').length)).toEqual([
      1, 1,
    ]);
  });

  it('the queue loses nothing when the client that waits goes away', async () => {
    const [sessionId, gate] = [newId(), newId()];
    await post(sessionId, 'u1', `speak ${gate}`, 'reject');
    await reached(gate);
    const leaving = new AbortController();
    const left = await post(sessionId, 'u2', 'hello', 'queue', leaving.signal);
    leaving.abort();
    expect(await left.done).toBe('cut');
    open(gate);
    await until('it is answered', async () => {
      const { messages, run } = await loadSnapshot(api.url, sessionId);
      return run?.status === 'completed' && messages.length === 4;
    });
  });

  it('a message interrupts a run, and its POST gets the reply', async () => {
    const [sessionId, gate] = [newId(), newId()];
    const stopped = await post(sessionId, 'u1', `speak ${gate}`, 'reject');
    await reached(gate);
    const next = await post(sessionId, 'u2', 'stop that', 'interrupt');
    expect(await Promise.all([stopped.done, next.done])).toEqual(['ended', 'ended']);
    expect(stopped.text()).toBe('Once upon');
    expect(next.text()).toBe('You said stop that');
    expect(next.parts.find(({ type }) => type === 'start')).toMatchObject({ messageId: 'msg-3' });
  });
});
