import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunEvent } from '../../../protocol/telemetry.js';
import { childAt, grow } from '../../../store/conformance/tree.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import type { Event } from '../../../session/events.js';
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
  const [info, warn] = [jest.fn(), jest.fn()];
  const store = listenToChanges(bare.store, {
    meter: (event) => void events.push(event),
    logger: { info, warn },
    startNext: async (sessionId) => {
      begun.push(sessionId);
      await bare.store.queue.begin({ sessionId, nonce: 'next', now: Date.now() });
    },
  });
  return { bare, store, events, begun, info, warn, session: drive({ ...bare, store }) };
}

const of = (events: readonly RunEvent[], kind: RunEvent['kind']): RunEvent[] =>
  events.filter((event) => event.kind === kind);

async function asking(session: SessionDriver): Promise<string> {
  const { runId } = await session.asked(newCall('c1', 'approval'));
  return runId;
}

type Stage = ReturnType<typeof hear>;

const nameOf = (event: Event): string =>
  event.kind === 'charge_changed' && event.isSize === true ? 'size_changed' : event.kind;

/** Opens a session, and lists the events that its changes tell. */
function hear() {
  const bare = createMemoryStores();
  const heard: string[] = [];
  const store = listenToChanges(bare.store, {
    meter: () => undefined,
    logger: { warn: () => undefined },
    startNext: () => Promise.resolve(),
    others: [(_sessionId, events) => void heard.push(...events.map(nameOf))],
  });
  const session = drive({ ...bare, store });
  return { ...bare, store, session, heard };
}

const question = async ({ session }: Stage): Promise<string> =>
  (await session.asked(newCall('a', 'approval'))).runId;

const execution = async ({ session }: Stage): Promise<string> => {
  const { runId } = await session.asked(newCall('s', 'server'));
  await session.start(runId, 1, 's');
  return runId;
};

const COMMITTED = ['attempt_ended', 'size_changed'];
const ENDED = ['charge_changed', 'run_ended'];

/** A change in a state, with the kinds of events that it tells. */
type Told = [change: string, kinds: string[], make: (stage: Stage) => Promise<() => unknown>];

it.each<Told>([
  [
    'the begin of queued messages',
    ['charge_changed'],
    async ({ session }) => {
      const { runId } = await session.newRun();
      await session.enqueue('u2');
      await session.end(runId, 'completed');
      return session.beginNext;
    },
  ],
  [
    'a change of a queued message',
    ['charge_changed'],
    async ({ session, store }) => {
      await session.newRun();
      await session.enqueue('u2');
      const message = userMessage('u2', 'better');
      const change = { message, expectedHash: 'hello from u2', now: 1 };
      return () => store.queue.edit({ sessionId: session.id, ...change });
    },
  ],
  [
    'the removal of a queued message',
    ['charge_changed'],
    async ({ session, store }) => {
      await session.newRun();
      await session.enqueue('u2');
      return () => store.queue.remove({ sessionId: session.id, now: 1 });
    },
  ],
  [
    "a person's answer",
    ['charge_changed', 'wait_ended'],
    async (stage) => {
      const runId = await question(stage);
      return () => stage.session.decide(runId, 'a', true);
    },
  ],
  [
    'a changed input that waits for another person',
    ['charge_changed'],
    async (stage) => {
      const runId = await question(stage);
      const edit = { n: 1, input: 2, at: 1 };
      return () => stage.session.decide(runId, 'a', true, { edit });
    },
  ],
  [
    "a tool's result",
    ['work_over', 'size_changed'],
    async (stage) => {
      const runId = await execution(stage);
      return () => stage.session.finishCall(runId, 1, 's', 'done');
    },
  ],
  [
    "a tool's result again",
    ['work_over'],
    async (stage) => {
      const runId = await execution(stage);
      await stage.session.finishCall(runId, 1, 's', 'done');
      return () => stage.session.finishCall(runId, 1, 's', 'done');
    },
  ],
  [
    'a request to a webhook, for which no person waits any more',
    ['charge_changed'],
    async ({ session, store }) => {
      const { runId } = await session.asked(newCall('s', 'approval'));
      await session.decide(runId, 's', true);
      const by = { writer: session.callWriter(runId, 1, 's', 1), toolCallId: 's', now: 1 };
      await store.calls.start({ ...by, hook: 'secret' });
      await store.calls.suspend(by);
      const row = { role: 'tool', toolCallId: 's', toolName: 't', output: 1 } as const;
      const of = { sessionId: session.id, agentType: AGENT, toolCallId: 's', runId };
      const request = { ...of, secret: 'secret', row, chunks: [], now: 1 };
      return () => store.calls.settle({ source: 'webhook', ...request });
    },
  ],
  [
    'a wait for a webhook that pauses',
    ['charge_changed'],
    async ({ session, store }) => {
      const { runId } = await session.asked(newCall('s', 'server'));
      const by = { writer: session.callWriter(runId, 1, 's', 1), toolCallId: 's', now: 1 };
      await store.calls.start({ ...by, hook: 'secret' });
      return () => store.calls.suspend(by);
    },
  ],
  [
    'the start of a settled call',
    ['work_over'],
    async (stage) => {
      const runId = await execution(stage);
      await stage.session.finishCall(runId, 1, 's', 'done');
      return () => stage.session.start(runId, 1, 's', 2);
    },
  ],
  [
    'the start of a call whose run is over',
    ['work_over'],
    async ({ session }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'completed');
      return () => session.start(runId, 1, 's');
    },
  ],
  [
    'the start of a call whose first execution was lost',
    ['work_over'],
    async (stage) => {
      const runId = await execution(stage);
      return () => stage.session.start(runId, 1, 's', 2);
    },
  ],
  [
    'a commit of calls',
    COMMITTED,
    async ({ session }) => {
      const { writer } = await session.claimed();
      return () => session.commit(writer, { calls: [newCall('s', 'server')] });
    },
  ],
  [
    'a commit that pauses',
    ['charge_changed', ...COMMITTED, 'work_over'],
    async ({ session }) => {
      const { writer } = await session.claimed();
      return () => session.commit(writer, { calls: [newCall('a', 'approval')] });
    },
  ],
  [
    "a sub-agent's commit of calls",
    [...COMMITTED, 'work_over'],
    async (stage) => {
      const { driver, ref } = childAt(await grow(stage, 1, () => []), 0);
      const writer = driver.writer(ref.runId, 1, 1);
      await driver.claim(writer);
      return () => driver.commit(writer, { calls: [newCall('s', 'server')] });
    },
  ],
  [
    'a commit that ends the run',
    [...ENDED, 'part_left', ...COMMITTED, 'work_over'],
    async ({ session }) => {
      const { writer } = await session.claimed();
      return () => session.commit(writer);
    },
  ],
  [
    'a commit again',
    ['work_over', 'charge_changed'],
    async ({ session }) => {
      const { writer } = await session.claimed();
      await session.commit(writer);
      return () => session.commit(writer);
    },
  ],
  [
    'a stop of a run that waits for people',
    [...ENDED, 'wait_ended'],
    async (stage) => {
      await question(stage);
      return () => stage.session.stop();
    },
  ],
  [
    'an end again',
    ['charge_changed'],
    async ({ session }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'completed');
      return () => session.end(runId, 'completed');
    },
  ],
  [
    'a claim of a run that is over',
    ['attempt_ended', 'work_over'],
    async ({ session }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'completed');
      return () => session.claim(session.writer(runId, 1, 1));
    },
  ],
  [
    'a claim of a step that a later attempt owns',
    ['attempt_ended'],
    async ({ session }) => {
      const { runId } = await session.claimed();
      await session.claim(session.writer(runId, 1, 3));
      return () => session.claim(session.writer(runId, 1, 2));
    },
  ],
])('%s tells %j', async (_change, kinds, make) => {
  const stage = hear();
  const act = await make(stage);
  stage.heard.length = 0;
  await act();
  expect(stage.heard.toSorted()).toEqual(kinds.toSorted());
});

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
    const { writer } = await session.claimed();
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

  it('a stop of a sub-agent lets the next run of its conversation begin', async () => {
    const { bare, store, session, begun } = setUp();
    const tree = await grow({ ...bare, store, session }, 1, () => []);
    await session.begin({ messages: [userMessage('u2')], policy: 'queue' });
    await childAt(tree, 0).driver.stop();
    expect(begun).toEqual([session.id]);
  });

  it('what an owner is charged follows a change, and an act gets to the audit trail', async () => {
    const { bare, store, session, info, warn } = setUp();
    const runId = await asking(session);
    const act = toAct('stop', { by: 'ann' });
    await store.runs.stop(session.id, { mode: 'interrupt', runId, act });
    await until('both have followed', async () => {
      const used = await bare.store.owners.usage({ owner: 'ann' });
      const { entries } = await bare.store.audit.page(undefined, { limit: 10 });
      return used.sessions === 1 && used.runs === 0 && entries.length === 1;
    });
    expect(warn).not.toHaveBeenCalled();
    // The log has a copy of the entry.
    expect(info).toHaveBeenCalledWith({ audit: expect.objectContaining({ id: act.id }) }, 'audit');
  });

  it('what grows while a run is at work is charged at once in the end, and once before', async () => {
    const { bare, session } = setUp();
    const fold = jest.spyOn(bare.store.owners, 'fold');
    const { runId } = await session.asked(newCall('c1', 'server'));
    await until('its begin is charged', () => fold.mock.calls.length === 1);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    await session.carryOut(runId, 1, 'c1', 'done');
    await session.ask(runId, 2, [newCall('c2', 'server')]);
    await nextTurn();
    expect(fold).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2_000);
    await nextTurn();
    expect(fold).toHaveBeenCalledTimes(2);
    await session.carryOut(runId, 2, 'c2', 'done');
    await session.ask(runId, 3, []);
    await nextTurn();
    expect(fold).toHaveBeenCalledTimes(3);
    await jest.advanceTimersByTimeAsync(2_000);
    await nextTurn();
    expect(fold).toHaveBeenCalledTimes(3);
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

  it('a result of a page and a deadline count as such, and a withdrawn question does not', async () => {
    const { session, events } = setUp();
    const late = { deadlineMs: 1 };
    const calls = [
      newCall('c1', 'client'),
      newCall('c2', 'approval', late),
      newCall('c3', 'approval'),
    ];
    const { runId } = await session.asked(...calls);
    await session.answer(runId, 'c1', { output: 1 });
    await until(
      'it is over',
      async () => (await session.expireAs(runId, 'c2', false)).kind === 'stored',
    );
    await session.stop();
    expect(of(events, 'call_answered')).toMatchObject([
      { asked: 'client', decision: 'result', source: 'api' },
      { asked: 'approval', decision: 'expired', source: 'auto' },
    ]);
  });

  it('an attempt that a newer one replaced is fenced, and did not commit', async () => {
    const { session, events } = setUp();
    const { runId, writer: old } = await session.claimed();
    await session.claim(session.writer(runId, 1, 2));
    await session.commit(old);
    expect(of(events, 'attempt_ended')).toEqual([{ kind: 'attempt_ended', outcome: 'fenced' }]);
    // The store is older than what the run has seen.
    await session.claim(session.writer(runId, 2, 1), 1_000);
    expect(of(events, 'attempt_ended')[1]).toEqual({ kind: 'attempt_ended', outcome: 'rewound' });
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
