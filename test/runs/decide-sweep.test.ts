import {
  createSweepSession,
  decideSweep,
  type FoundState,
  type SweepDecision,
} from '../../runs/sweep-session.js';
import { NOTHING, type WorkflowLook } from '../../runs/workflow-look.js';
import { HelixError } from '../../protocol/errors.js';
import type { RunError, RunStatus } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';

function recordOf(status: RunStatus, extra: Partial<SessionRecord> = {}): SessionRecord {
  return {
    sessionId: 's',
    agent: 'a',
    owner: 'o',
    createdAt: 0,
    updatedAt: 0,
    sequence: 0,
    turn: 1,
    runId: 's:1-x',
    status,
    stream: 'active',
    messageId: 'msg-1',
    turnStartSequence: 0,
    turnStartRow: 0,
    runStartedAt: 0,
    runMode: 'new',
    askers: [],
    runStartSequence: 0,
    runFromStep: 0,
    committedStep: 0,
    claimedStep: 0,
    pauseSequence: 0,
    stateVersion: 0,
    born: 'abc',
    queued: 0,
    ...extra,
  };
}

const START_WITHIN_MS = 900_000;
const resume = { step: 1, approved: [] };
const LIVE: RunStatus[] = [
  'starting',
  'running',
  'waiting_children',
  'waiting_approval',
  'waiting_tool',
];
const STATES: (FoundState | undefined)[] = [undefined, 'running', 'resting', 'closed', 'unknown'];
const LATE = START_WITHIN_MS + 1;
/** Time of a run that begins later. */
const AT = 10 * START_WITHIN_MS;
const later = { waitsUntil: AT };
const stopped = { stop: { mode: 'abort' }, updatedAt: 1_000 } as const;
const copy = { runMode: 'branch', updatedAt: 1_000 } as const;
const answered = { resume, updatedAt: 1_000 };
const taken = { ...answered, resumeTaken: true };
const paused = { stream: 'paused' } as const;

type Extra = Partial<SessionRecord>;
type Decided = [RunStatus, Extra, FoundState | undefined, now: number, SweepDecision];

it.each<Decided>([
  ...(['completed', 'failed'] as const).flatMap((status) =>
    STATES.map((state): Decided => [status, {}, state, 0, 'forget']),
  ),
  // The workflow of a stopped run may have missed the signal.
  ...(['interrupted', 'aborted'] as const).flatMap((status): Decided[] => [
    [status, {}, undefined, 0, 'look'],
    [status, {}, 'running', 0, 'stop'],
    [status, {}, 'resting', 0, 'stop'],
    [status, {}, 'closed', 0, 'forget'],
    [status, {}, 'unknown', 0, 'forget'],
    [status, { queued: 1 }, 'running', 0, 'begin'],
  ]),
  ...LIVE.flatMap((status): Decided[] => [
    [status, {}, undefined, 10_001, 'look'],
    [status, {}, 'unknown', 0, 'start'],
    [status, {}, 'closed', 0, 'fail'],
    [status, {}, 'running', 0, 'nothing'],
  ]),
  // Overdue calls are settled after everything else that keeps the run from continuing.
  ['waiting_tool', { deadline: 1_000 }, 'running', 999, 'nothing'],
  ['waiting_tool', { deadline: 1_000 }, 'running', 1_000, 'expire'],
  ['waiting_tool', { deadline: 1_000 }, 'unknown', 1_000, 'start'],
  ['waiting_tool', { deadline: 1_000 }, 'closed', 1_000, 'fail'],
  // A run is given up if it was not started in time, which counts from its beginning.
  ['starting', {}, 'unknown', START_WITHIN_MS, 'start'],
  ['starting', {}, 'unknown', LATE, 'give_up'],
  ['starting', {}, 'running', LATE, 'nothing'],
  ['waiting_tool', {}, 'unknown', LATE, 'start'],
  ['starting', later, 'unknown', LATE, 'start'],
  ['starting', later, 'running', LATE, 'nothing'],
  ['starting', later, 'resting', LATE, 'nothing'],
  ['starting', later, 'closed', LATE, 'fail'],
  ['starting', later, 'unknown', AT + START_WITHIN_MS, 'start'],
  ['starting', later, 'running', AT + START_WITHIN_MS, 'nothing'],
  ['starting', later, 'resting', AT + START_WITHIN_MS, 'wake'],
  ['starting', later, 'unknown', AT + LATE, 'give_up'],
  // A fork's copy is continued if its request did not do so; that of a whole conversation is complete.
  ['interrupted', copy, undefined, 9_000, 'nothing'],
  ['interrupted', copy, undefined, 9_001, 'continue'],
  ['interrupted', { ...copy, runMode: 'with_confirmation' }, undefined, 9_001, 'look'],
  ['completed', copy, undefined, 9_001, 'forget'],
  // Temporal is asked about a run only if something may be lost.
  ['starting', {}, undefined, 2_000, 'nothing'],
  ['starting', {}, undefined, 2_001, 'look'],
  ['running', {}, undefined, 4_000, 'nothing'],
  ['running', {}, undefined, 4_001, 'look'],
  ['running', { deadline: 1 }, undefined, 1, 'look'],
  ['waiting_tool', paused, undefined, 1, 'look'],
  ['running', { resume, resumeTaken: false }, undefined, 2_001, 'look'],
  ['running', { resume, resumeTaken: true }, undefined, 2_001, 'nothing'],
  ['running', { wakes: [] }, undefined, 2_001, 'look'],
  // A stop that no writer confirms is enforced.
  ['running', stopped, 'running', 3_000, 'nothing'],
  ['running', stopped, undefined, 3_001, 'enforce'],
  // A run that has not taken its answers for a while is woken; an approved tool may run for long.
  ['running', answered, 'running', 2_000, 'nothing'],
  ['running', answered, 'running', 3_001, 'wake'],
  ['running', answered, 'closed', 9_000, 'fail'],
  ['running', taken, 'running', 60_000, 'nothing'],
  // A silent run is woken while nothing is in progress for it, unless an answer may be on its way.
  ...(['starting', 'running', 'waiting_children'] as const).flatMap((status): Decided[] => [
    [status, {}, 'resting', 2_000, 'nothing'],
    [status, {}, 'resting', 2_001, 'wake'],
    [status, {}, 'running', 60_000, 'nothing'],
  ]),
  ['waiting_approval', paused, 'resting', 60_000, 'nothing'],
  ['waiting_tool', paused, 'resting', 60_000, 'nothing'],
])(
  'of a run %s with %j, whose workflow is %s, at %d: %s',
  (status, extra, state, now, decision) => {
    const at = { now, startWithinMs: START_WITHIN_MS };
    expect(decideSweep(recordOf(status, extra), state, at)).toBe(decision);
  },
);

it('a session that does not exist is forgotten', () => {
  const at = { now: 0, startWithinMs: START_WITHIN_MS };
  expect(decideSweep(undefined, undefined, at)).toBe('forget');
});

const lookOf = (isAtWork: boolean, ...children: string[]): WorkflowLook => ({
  state: 'running',
  isAtWork,
  started: [],
  children,
});

/** Opens the sweep of a session with this record, and another one after the look. */
function openSession(record: SessionRecord, of: object = {}, after = record, isHeld = false) {
  const [done, seen, counted]: [string[], string[], unknown[]] = [[], [], []];
  const records = [record];
  const notes = (name: string) => (ids: string, runId?: string) =>
    Promise.resolve(void done.push([name, ids, runId].filter(Boolean).join(' ')));
  const names = ['enforceStop', 'startNext', 'expireCalls'];
  const read = () => Promise.resolve(records.shift() ?? after);
  const sweep = createSweepSession({
    store: { sessions: { read }, waiting: { note: notes('waits') } },
    workflows: {
      look: () => Promise.resolve(lookOf(true)),
      wake: (runId: string, { ended }: { ended?: boolean } = {}) =>
        notes(ended === true ? 'end' : 'wake')(runId),
      ...of,
    },
    ...Object.fromEntries(names.map((name) => [name, notes(name)])),
    continueCopy: () => Promise.reject(new Error('not expected')),
    isHeld: () => Promise.resolve(isHeld),
    startWithinMs: START_WITHIN_MS,
    meter: ({ found }: { found?: string }) => counted.push(found),
    logger: { warn: () => undefined },
    startRun: ({ runId }: SessionRecord) => Promise.resolve(void done.push(`start ${runId}`)),
    endUnstarted: ({ runId }: SessionRecord) => Promise.resolve(void done.push(`give up ${runId}`)),
    endLost: (_: SessionRecord, error?: RunError) =>
      Promise.resolve(void done.push(`lost ${String(error?.code)}`)),
    findUnseen: (runId: string) => seen.push(runId),
  } as never);
  return { sweep, done, seen, counted };
}

/** Returns the seconds until the next sweep, or the session's state. */
async function againAfter(
  silentMs: number,
  extra: Partial<SessionRecord> = {},
  status: RunStatus = 'running',
) {
  const record = recordOf(status, { ...extra, updatedAt: Date.now() - silentMs });
  const { sweep, done } = openSession(record);
  const swept = await sweep('s');
  expect(done).toEqual(record.resume === undefined ? [] : [`wake ${record.runId}`]);
  return swept.kind === 'active' ? Math.round(swept.againMs / 1_000) : swept;
}

describe('a sweep of a run that is silent', () => {
  it('a sweep that gives a wake-up again comes back later the longer the run was silent', async () => {
    expect([
      await againAfter(3_000, { resume }),
      await againAfter(40_000, { resume }),
      await againAfter(3_600_000, { resume }),
    ]).toEqual([5, 20, 60]);
  });

  it('what is lost during a long silence is found within half a minute, of sub-agents sooner', async () => {
    expect([
      await againAfter(3_000),
      await againAfter(40_000),
      await againAfter(3_600_000),
      await againAfter(3_600_000, {}, 'waiting_children'),
    ]).toEqual([5, 20, 30, 10]);
  });

  it('a sweep comes back when a deadline is over, or a run is to start, within the hour', async () => {
    const inMs = (ms: number): number => Date.now() + ms;
    expect([
      await againAfter(40_000, { deadline: inMs(7_000) }),
      await againAfter(3_000, { waitsUntil: inMs(600_000) }, 'starting'),
      await againAfter(3_000, { waitsUntil: inMs(9_000_000) }, 'starting'),
    ]).toEqual([7, 600, 3_600]);
  });
});

describe('a sweep', () => {
  it('leaves what its budget does not allow to a later one, the newest run first', async () => {
    const since = (ms: number) => ({ runStartedAt: Date.now() - ms, updatedAt: 0 });
    const none = () => Promise.resolve(NOTHING);
    const waits: unknown[] = [];
    for (const [status, ms, budget] of [
      ['running', 40_000, { looks: 0, starts: 1 }],
      ['starting', 48_000, { looks: 1, starts: 0 }],
    ] as const) {
      const { sweep, done } = openSession(recordOf(status, since(ms)), { look: none });
      const swept = await sweep('s', { ...budget });
      waits.push(swept.kind === 'active' && Math.round(swept.againMs / 1_000));
      expect(done).toEqual([]);
    }
    expect(waits).toEqual([10, 12]);
  });

  it('gives up a run that no worker began in time, also while Temporal is away', async () => {
    const look = () => Promise.reject(new HelixError('unavailable', 'away'));
    const { sweep, done, counted } = openSession(recordOf('starting'), { look });
    await sweep('s');
    expect([done, counted]).toEqual([['give up s:1-x'], ['give_up']]);
    const young = recordOf('starting', { runStartedAt: Date.now() - 10_000 });
    await expect(openSession(young, { look }).sweep('s')).rejects.toThrow('away');
  });

  it('does nothing for a run that began while it asked about the one before', async () => {
    const look = () => Promise.resolve(lookOf(false));
    const next = recordOf('running', { runId: 's:2-y', resume });
    const { sweep, done } = openSession(recordOf('running'), { look }, next);
    expect(await sweep('s')).toMatchObject({ kind: 'active' });
    expect(done).toEqual([]);
  });
});

const active = { kind: 'active' };
const inAnHour = { waitsUntil: Date.now() + 3_600_000 };

it.each<[SessionRecord, isHeld: boolean, done: string[], object]>([
  [recordOf('running', stopped), false, ['enforceStop s s:1-x'], active],
  [recordOf('running', { deadline: 1 }), false, ['expireCalls s'], active],
  [recordOf('completed', { queued: 1 }), false, ['startNext s'], active],
  [recordOf('interrupted'), false, ['end s:1-x'], { kind: 'idle' }],
  [recordOf('completed'), false, [], { kind: 'idle' }],
  [
    recordOf('waiting_tool', { ...paused, deadline: Date.now() + 3_600_000 }),
    false,
    ['waits s'],
    { kind: 'waiting', untilDeadlineMs: expect.closeTo(3_600_000, -5) },
  ],
  // A pause holds no run that has started, and none whose workflow waits for its time.
  [recordOf('running', { resume }), true, ['wake s:1-x'], active],
  [recordOf('starting'), true, [], { kind: 'active', againMs: 60_000 }],
  [recordOf('starting', inAnHour), true, [], { againMs: expect.closeTo(3_600_000, -5) }],
])(
  'a session with the record %j, held: %j, is repaired by %j',
  async (record, isHeld, acts, found) => {
    const { sweep, done, counted } = openSession(record, {}, record, isHeld);
    expect(await sweep('s')).toMatchObject(found);
    expect(done).toEqual(acts);
    expect(counted).toHaveLength(acts.filter((act) => !act.startsWith('waits')).length);
  },
);

describe('a sweep of a run that waits for sub-agents', () => {
  /** Returns the woken runs; `looks` limits the sweep's requests to Temporal. */
  async function wokenOf(runs: Record<string, WorkflowLook>, looks = Infinity): Promise<string[]> {
    const record = recordOf('waiting_children', { updatedAt: Date.now() - 60_000 });
    const look = (runId: string) => Promise.resolve(runs[runId] ?? lookOf(true));
    const { sweep, done, seen } = openSession(record, { look });
    const budget = { looks, starts: 1 };
    await sweep('s', budget);
    expect(seen).toEqual(Object.keys(runs).slice(0, 50));
    expect(budget.looks).toBe(looks - seen.length);
    return done.map((act) => act.replace('wake ', ''));
  }

  const ROOT = 's:1-x';
  const resting = { [ROOT]: lookOf(false, 'a', 'b'), a: lookOf(false, 'c'), b: lookOf(false) };

  it('wakes all of them, at any depth, if none is at work', async () => {
    expect(await wokenOf({ ...resting, c: lookOf(false) })).toEqual([ROOT, 'a', 'b', 'c']);
  });

  it('leaves them alone while one is at work, and where they are too many to look at', async () => {
    expect(await wokenOf({ ...resting, c: lookOf(true) })).toEqual([]);
    const ids = Array.from({ length: 50 }, (_, n) => `c${String(n)}`);
    const rest = Object.fromEntries(ids.map((id) => [id, lookOf(false)]));
    expect(await wokenOf({ [ROOT]: lookOf(false, ...ids), ...rest })).toEqual([]);
  });

  it('looks at all of them once it has begun, whatever is left of its budget', async () => {
    expect(await wokenOf({ ...resting, c: lookOf(false) }, 1)).toEqual([ROOT, 'a', 'b', 'c']);
  });
});

it('a run that Temporal lost is started again, and it and its sub-agents are woken then', async () => {
  const wakes = [{ sessionId: 's.x', runId: 's.x:1-y', resume }];
  const record = recordOf('running', { updatedAt: 0, wakes });
  const { sweep, done } = openSession(record, { look: () => Promise.resolve(NOTHING) });
  const budget = { looks: 3, starts: 3 };
  expect(await sweep('s', budget)).toMatchObject({ kind: 'active' });
  expect(done).toEqual(['start s:1-x', 'wake s:1-x', 'wake s.x:1-y']);
  expect(budget).toEqual({ looks: 2, starts: 2 });
});

it.each([
  [true, 'state_lost'],
  [false, undefined],
])('a run whose workflow is closed, completed: %s, ends with %s', async (hasCompleted, code) => {
  const { sweep, done } = openSession(recordOf('running'), {
    look: () => Promise.resolve({ ...NOTHING, state: 'closed', hasCompleted }),
  });
  await sweep('s');
  expect(done).toEqual([`lost ${String(code)}`]);
});
