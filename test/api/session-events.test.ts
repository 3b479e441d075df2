import { createSessionEvents } from '../../api/session-events.js';
import type { SessionEvent } from '../../protocol/replies.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { drive, newCall } from '../support/session-driver.js';

/** Shorter than the interval at which a page asks again without being told. */
const TOLD_MS = 10_000;

const leave = new AbortController();
afterEach(() => {
  leave.abort();
});

it(
  'an idle page learns of each change when it happens',
  async () => {
    const { store, streamManager } = createMemoryStores();
    const session = drive({ store, streamManager });
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const deps = { stateStore: store, streamManager };
    const events = createSessionEvents(deps, session.id, leave.signal);
    const next = async (): Promise<SessionEvent> => {
      const { value } = await events.next();
      return JSON.parse(/^data: (.*)$/m.exec(value ?? '')?.[1] ?? 'null') as SessionEvent;
    };
    expect(await next()).toMatchObject({ status: 'active', run: { status: 'running' } });
    const changes: [what: string, change: () => Promise<unknown>, shown: object][] = [
      ['a message is queued', () => session.enqueue('q1'), { queue: [{ id: 'q1' }] }],
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
      ['the run ends', () => session.end(runId, 'failed'), { status: 'failed' }],
    ];
    for (const [what, change, shown] of changes) {
      const told = next();
      await change();
      expect([what, await told]).toMatchObject([what, shown]);
    }
  },
  TOLD_MS,
);
