import type { RunEvent } from '../../../protocol/telemetry.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { listenToChanges } from '../../../runs/record/listeners.js';
import { toAct } from '../../../runs/record/acts.js';
import {
  AGENT,
  drive,
  newCall,
  userMessage,
  type SessionDriver,
} from '../../support/session-driver.js';
import { until } from '../../support/until.js';

function setUp() {
  const bare = createMemoryStores();
  const events: RunEvent[] = [];
  const begun: string[] = [];
  const warn = jest.fn();
  const store = listenToChanges(bare.store, {
    meter: (event) => void events.push(event),
    logger: { warn },
    startNext: async (sessionId) => {
      begun.push(sessionId);
      await bare.store.queue.begin({ sessionId, nonce: 'next', now: Date.now() });
    },
  });
  return { bare, store, events, begun, warn, session: drive({ ...bare, store }) };
}

const of = (events: readonly RunEvent[], kind: RunEvent['kind']): RunEvent[] =>
  events.filter((event) => event.kind === kind);

async function asking(session: SessionDriver): Promise<string> {
  const { runId } = await session.asked(newCall('c1', 'approval'));
  return runId;
}

describe('what changes report', () => {
  it('a run that ended counts once, however often its end is repeated', async () => {
    const { session, events } = setUp();
    const { runId } = await session.newRun();
    await session.end(runId, 'completed');
    await session.end(runId, 'completed');
    expect(of(events, 'run_ended')).toEqual([
      { kind: 'run_ended', agent: AGENT, status: 'completed', code: undefined },
    ]);
  });

  it('a commit that ends its run counts once, with the code of its failure', async () => {
    const { session, events } = setUp();
    const { writer } = await session.speaking();
    const error = { code: 'provider_error', message: 'It failed.', retryable: true };
    const final = { status: 'failed', error } as const;
    const outcome = { kind: 'ended', step: 1, ...final } as const;
    await session.commit(writer, { final, outcome, answersStop: true });
    await session.commit(writer, { final, outcome, answersStop: true });
    expect(of(events, 'run_ended')).toEqual([
      { kind: 'run_ended', agent: AGENT, status: 'failed', code: 'provider_error' },
    ]);
    expect(of(events, 'attempt_ended')).toEqual([{ kind: 'attempt_ended', outcome: 'cut' }]);
  });

  it('a run that was stopped while it waited counts once, though its workflow ends it again', async () => {
    const { session, events } = setUp();
    const runId = await asking(session);
    await session.stop({ mode: 'interrupt' });
    await session.end(runId, 'interrupted');
    expect(of(events, 'run_ended')).toHaveLength(1);
  });

  it('a listener that throws refuses no change, and takes nothing from the others', async () => {
    const { bare, session: calm, events } = setUp();
    const warn = jest.fn();
    const begun: string[] = [];
    const store = listenToChanges(bare.store, {
      logger: { warn },
      meter: () => {
        throw new Error('no metrics');
      },
      startNext: (sessionId) => Promise.resolve(void begun.push(sessionId)),
    });
    const session = drive({ ...bare, store }, calm.id);
    const { runId } = await session.newRun();
    await session.begin({ messages: [userMessage('u2')], policy: 'queue' });
    expect(await session.end(runId, 'completed')).toMatchObject({ kind: 'ended' });
    expect(begun).toEqual([session.id]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(of(events, 'run_ended')).toEqual([]);
  });

  it.each([
    ['ends', (one: SessionDriver, runId: string) => one.end(runId, 'failed')],
    ['is stopped', (one: SessionDriver) => one.stop({ mode: 'interrupt' })],
    ['commits its last step', (one: SessionDriver, runId: string) => one.ask(runId, 1, [])],
  ] as const)('a run that %s lets the next one begin, once', async (_how, end) => {
    const { bare, session, begun } = setUp();
    const { runId } = await session.newRun();
    await session.begin({ messages: [userMessage('u2')], policy: 'queue' });
    await end(session, runId);
    await until('the next run has begun', async () => {
      const record = await bare.store.sessions.read(session.id);
      return record?.runId !== runId;
    });
    expect(begun).toEqual([session.id]);
  });

  it('what an owner is charged follows a change, and an act gets to the audit trail', async () => {
    const { bare, store, session, warn } = setUp();
    const runId = await asking(session);
    const act = toAct('stop', { by: 'ann' });
    await store.runs.stop(session.id, { mode: 'interrupt', runId, act });
    await until('both have followed', async () => {
      const used = await bare.store.owners.usage({ owner: 'ann' });
      const { entries } = await bare.store.audit.page(undefined, { limit: 10 });
      return used.sessions === 1 && used.runs === 0 && entries.length === 1;
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it('a waiting run that a new message replaced has ended', async () => {
    const { session, events } = setUp();
    await asking(session);
    await session.newRun('u2');
    expect(of(events, 'run_ended')).toMatchObject([{ agent: AGENT, status: 'interrupted' }]);
  });

  it('an answer counts once, with how long the question waited', async () => {
    const { session, events } = setUp();
    const runId = await asking(session);
    await session.decide(runId, 'c1', true);
    await session.decide(runId, 'c1', false);
    const answers = of(events, 'call_answered');
    expect(answers).toMatchObject([{ asked: 'approval', decision: 'approved', source: 'api' }]);
    const [answer] = answers as Extract<RunEvent, { kind: 'call_answered' }>[];
    expect(answer?.waitedSeconds).toBeGreaterThanOrEqual(0);
  });

  it('an attempt that a newer one replaced is fenced, and did not commit', async () => {
    const { session, events } = setUp();
    const { runId, writer: old } = await session.speaking();
    await session.claim(session.writer(runId, 1, 2));
    await session.commit(old);
    expect(of(events, 'attempt_ended')).toEqual([{ kind: 'attempt_ended', outcome: 'fenced' }]);
  });
});

it('a question that was answered is not the one that has waited longest', async () => {
  const { bare, session } = setUp();
  const runId = await asking(session);
  expect(await bare.store.waiting.standing()).toMatchObject({
    count: 1,
    oldest: expect.any(Number),
  });
  await session.decide(runId, 'c1', false);
  expect(await bare.store.waiting.standing()).toEqual({ count: 0 });
});
