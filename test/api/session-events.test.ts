import { createSessionEvents } from '../../api/session-events.js';
import type { SessionEvent } from '../../protocol/replies.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { drive, newCall } from '../support/session-driver.js';
import { postMessage, readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const product = useLocalProduct();

/** Shorter than the interval at which a page polls. */
const TOLD_MS = 10_000;

let leave: AbortController;
beforeEach(() => {
  leave = new AbortController();
});
afterEach(() => {
  leave.abort();
});

it(
  'an idle page learns of each change when it happens',
  async () => {
    const { store, streamManager } = createMemoryStores();
    const session = drive({ store, streamManager });
    const { runId } = await session.newRun();
    await session.claim(session.writer(runId, 1, 1));
    const writer = session.writer(runId, 1, 2);
    const deps = { stateStore: store, streamManager };
    const events = createSessionEvents(deps, session.id, leave.signal);
    const next = async (): Promise<SessionEvent> => {
      const { value } = await events.next();
      return JSON.parse(/^data: (.*)$/m.exec(value ?? '')?.[1] ?? 'null') as SessionEvent;
    };
    expect(await next()).toMatchObject({ status: 'active', run: { status: 'running' } });
    const error = { code: 'provider_unauthorized', message: 'No.', retryable: false };
    const changes: [what: string, change: () => Promise<unknown>, shown: object][] = [
      [
        'a message is queued, after an attempt that changes nothing to see',
        async () => {
          await session.claim(writer);
          await new Promise(setImmediate);
          await session.enqueue('q1');
        },
        { queue: [{ id: 'q1' }] },
      ],
      [
        'people are asked',
        () => session.commit(writer, { calls: [newCall('c1', 'approval')] }),
        { status: 'paused', pending: [{ toolCallId: 'c1' }] },
      ],
      [
        'a message is taken back',
        () => store.queue.remove({ sessionId: session.id, messageId: 'q1', now: Date.now() }),
        { queue: [] },
      ],
      ['the run goes on', () => session.decide(runId, 'c1', false), { status: 'active' }],
      [
        'the run ends',
        () => session.end(runId, 'failed', { error }),
        { status: 'failed', turn: 1, queue: [], run: { status: 'failed', error } },
      ],
    ];
    for (const [what, change, shown] of changes) {
      const told = next();
      await change();
      expect([what, await told]).toMatchObject([what, shown]);
    }
  },
  TOLD_MS,
);

const script = (...entries: object[]): string => JSON.stringify({ script: entries });
const asking = script({
  calls: [
    { tool: 'charge', id: 'c1', args: { amount: 5 } },
    { tool: 'charge', id: 'c2', args: { amount: 6 } },
  ],
});

/** Follows a session like an idle page. */
async function watch(sessionId: string) {
  const leave = new AbortController();
  const url = `${product.url}/api/chat/${sessionId}/events`;
  const reader = await readSse(url, { signal: leave.signal });
  const events = reader.parts as unknown as SessionEvent[];
  return {
    reader,
    events,
    leave: () => {
      leave.abort();
    },
    sees: (what: string, test: (event: SessionEvent) => boolean) =>
      until(what, () => {
        const last = events.at(-1);
        return last !== undefined && test(last) ? last : undefined;
      }),
  };
}

const erase = (sessionId: string): Promise<Response> =>
  fetch(`${product.url}/api/chat/${sessionId}`, { method: 'DELETE' });

it.each([
  ['an active run', script({ say: 'slow', hangMs: 600_000 })],
  ['a run that waits', asking],
  ['a run that has ended', script({ say: 'done' })],
])(
  'a DELETE stops and erases a conversation with %s, and readers see the end',
  async (_what, text) => {
    const sessionId = newSessionId();
    const reader = await postMessage(product.url, sessionId, { id: 'u1', text });
    await until('the reply begins', () => reader.parts.length > 1);
    const page = await watch(sessionId);
    const before = await page.sees('how it stands', () => true);
    expect((await erase(sessionId)).status).toBe(204);
    expect(await page.reader.done).toBe('ended');
    await reader.done;
    expect((await erase(sessionId)).status).toBe(404);
    for (const path of ['snapshot', 'messages', 'events', 'checkpoints', 'queue']) {
      const response = await fetch(`${product.url}/api/chat/${sessionId}/${path}`);
      expect([path, response.status]).toEqual([path, 404]);
    }
    // The id is free again, and nothing of the earlier run returns.
    const again = await postMessage(product.url, sessionId, { id: 'u1', text: 'Hello' });
    expect(await again.done).toBe('ended');
    expect(again.headers.get('x-run-id')).not.toBe(before.run.runId);
    expect(again.parts.filter(({ type }) => type === 'error')).toEqual([]);
    const history = await fetch(`${product.url}/api/chat/${sessionId}/messages?limit=1`);
    expect(await history.json()).toMatchObject({ messages: [{ id: 'u1' }], hasMore: true });
  },
);
