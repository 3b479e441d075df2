import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { delegate } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage, readSse, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { storedRecord } from '../support/stored-record.js';

const product = useProduct();

const slowly = toScript({ say: 'Sent once and only once.', deltas: 12, everyMs: 30 }).text;

it('a message starts one run, however often it is posted', async () => {
  const { url, redis } = product;
  const sessionId = newSessionId();
  const message = { id: 'u1', text: slowly };
  const readers = await Promise.all([1, 2, 3, 4].map(() => postMessage(url, sessionId, message)));
  expect(await Promise.all(readers.map(({ done }) => done))).toEqual(Array(4).fill('ended'));
  for (const reader of readers) {
    expect(reader.status).toBe(200);
    expect(reader.text()).toBe('Sent once and only once.');
  }
  expect(new Set(readers.map(({ headers }) => headers.get('x-run-id'))).size).toBe(1);

  const again = await postMessage(url, sessionId, message);
  await again.done;
  expect(again.text()).toBe('Sent once and only once.');
  const { messages } = await loadSnapshot(url, sessionId);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect((await storedRecord(redis, sessionId))?.run.n).toBe(1);
});

it('the server accepts one of two different messages that arrive at once', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const readers = await Promise.all(
    ['u1', 'u2'].map((id) => postMessage(url, sessionId, { id, text: slowly })),
  );
  await Promise.all(readers.map(({ done }) => done));
  expect(readers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { messages } = await loadSnapshot(url, sessionId);
  expect(messages).toHaveLength(2);

  // The refused message can be sent again now.
  const refused = readers[0]?.status === 409 ? 'u1' : 'u2';
  const retry = await postMessage(url, sessionId, { id: refused, text: slowly });
  expect(await retry.done).toBe('ended');
  expect(retry.text()).toBe('Sent once and only once.');
});

it('twenty viewers of one reply, which connect and disconnect, are served', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const reply = 'For every viewer. '.repeat(10);
  // The sleep keeps the turn active until all viewers have joined.
  const sleep = { tool: 'sleep', id: 's1', args: { ms: 600_000 } };
  const text = toScript({ say: reply, deltas: 60, everyMs: 20, calls: [sleep] }).text;
  const owner = await postMessage(url, sessionId, { id: 'u1', text });
  await owner.gets('text-delta');
  const leaving = new AbortController();
  const follow = (signal?: AbortSignal): ReturnType<typeof readSse> =>
    readSse(`${url}/api/chat/${sessionId}/stream`, signal === undefined ? {} : { signal });
  const [stay, leave] = await Promise.all([
    Promise.all(Array.from({ length: 10 }, () => follow())),
    Promise.all(Array.from({ length: 10 }, () => follow(leaving.signal))),
  ]);
  expect(new Set([...stay, ...leave].map(({ status }) => status))).toEqual(new Set([200]));
  await until('all see text', () => leave.every((reader) => reader.text() !== ''));
  leaving.abort();
  await until('those who stay have all', () => stay.every((reader) => reader.text() === reply));
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  expect(new Set(await Promise.all(stay.map(({ done }) => done)))).toEqual(new Set(['ended']));
  expect(new Set(stay.map((reader) => reader.text()))).toEqual(new Set([reply]));
  expect(await owner.done).toBe('ended');
  expect(owner.text()).toBe(reply);
});

it('a message that is sent again behind hidden context of another id is a repetition', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const text = JSON.stringify({ script: [{ calls: [{ tool: 'sleep', args: { ms: 600_000 } }] }] });
  const user = (id: string, said: string, metadata = {}): object => {
    return { id, role: 'user', parts: [{ type: 'text', text: said }], metadata };
  };
  const post = (draft: string): Promise<SseReader> =>
    readSse(`${url}/api/chat/${sessionId}?agent=lab`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [user(draft, 'On the page now: a draft.', { hidden: true }), user('u1', text)],
      }),
    });

  const first = await post('draft-1');
  await first.gets('tool-input-available');
  const again = await post('draft-2');
  expect([first.status, again.status]).toEqual([200, 200]);
  await again.gets('tool-input-available');
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  expect([await first.done, await again.done]).toEqual(['ended', 'ended']);

  const { run, messages } = await loadSnapshot(url, sessionId);
  const last = await post('draft-3');
  expect(last.status).toBe(200);
  expect(await last.done).toBe('ended');
  const after = await loadSnapshot(url, sessionId);
  expect(after.run?.runId).toBe(run?.runId);
  expect(after.messages.map(textOf)).toEqual(messages.map(textOf));
}, 60_000);

it('sub-agents end when the conversation is stopped, in the middle of their words', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  const sent = client.chat.sendMessage(
    toScript({ calls: [delegate('d1', { say: 'a'.repeat(600), deltas: 600, everyMs: 50 })] }),
  );
  await until('it speaks', async () => {
    const keys = await product.redis.keys(`*{${sessionId}}:*:writers`);
    return keys.length > 0;
  });
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  await sent;
  await untilRests(client, url);
  expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
  await expectStoredAsShown(client, url, sessionId);
  await client.chat.sendMessage(toScript({ say: 'Here again.' }));
  await untilRests(client, url);
  expect(client.reply()).toBe('Here again.');
});
