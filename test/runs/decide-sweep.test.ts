import {
  createSweepSession,
  decideSweep as decide,
  type FoundState,
  type SweptSession,
} from '../../runs/sweep-session.js';
import { NOTHING, type WorkflowLook } from '../../runs/workflow-look.js';
import type { RunStatus } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { createSweep } from '../../runs/sweep.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { DUE_SHARDS, dueShardOf } from '../../store/contract/due.js';

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
const decideSweep = (
  record: SessionRecord | undefined,
  workflow: FoundState | undefined,
  now: number,
): string => decide(record, workflow, { now, startWithinMs: START_WITHIN_MS });

describe('decideSweep, of a deadline', () => {
  it('decideSweep settles overdue calls after everything else that keeps the run from continuing', () => {
    const at = (deadline: number, extra: Partial<SessionRecord> = {}, state?: FoundState) =>
      decideSweep(recordOf('waiting_tool', { deadline, ...extra }), state ?? 'running', 1_000);
    expect(at(1_000)).toBe('expire');
    expect(at(1_001)).toBe('nothing');
    expect(at(1_000, {}, 'unknown')).toBe('start');
    expect(at(1_000, {}, 'closed')).toBe('fail');
  });
});

const resume = { step: 1, approved: [] };
const LIVE = [
  'starting',
  'running',
  'waiting_approval',
  'waiting_tool',
  'waiting_children',
] as const;
const OVER = ['completed', 'failed'] as const;
const STOPPED = ['interrupted', 'aborted'] as const;
const STATES: (FoundState | undefined)[] = [undefined, 'running', 'resting', 'closed', 'unknown'];

describe('decideSweep, of a run that begins later', () => {
  const later = recordOf('starting', { waitsUntil: 10 * START_WITHIN_MS });

  it('starts a workflow that Temporal does not know, and counts its time from the beginning', () => {
    for (const now of [2 * START_WITHIN_MS, 11 * START_WITHIN_MS]) {
      expect(decideSweep(later, 'unknown', now)).toBe('start');
      expect(decideSweep(later, 'running', now)).toBe('nothing');
      const hasBegun = now > 10 * START_WITHIN_MS;
      expect(decideSweep(later, 'resting', now)).toBe(hasBegun ? 'wake' : 'nothing');
    }
    expect(decideSweep(later, 'unknown', 11 * START_WITHIN_MS + 1)).toBe('give_up');
    expect(decideSweep(later, 'closed', 2 * START_WITHIN_MS)).toBe('fail');
  });
});

describe('decideSweep', () => {
  it.each(OVER)('decideSweep forgets a session whose run is %s', (status) => {
    for (const state of STATES) expect(decideSweep(recordOf(status), state, 0)).toBe('forget');
  });

  it.each(STOPPED)(
    'decideSweep signals the workflow of a run that is %s unless it is closed',
    (status) => {
      expect(decideSweep(recordOf(status), undefined, 0)).toBe('look');
      expect(decideSweep(recordOf(status), 'running', 0)).toBe('stop');
      expect(decideSweep(recordOf(status), 'resting', 0)).toBe('stop');
      expect(decideSweep(recordOf(status), 'closed', 0)).toBe('forget');
      expect(decideSweep(recordOf(status), 'unknown', 0)).toBe('forget');
      expect(decideSweep(recordOf(status, { queued: 1 }), 'running', 0)).toBe('begin');
    },
  );

  it('decideSweep continues the copy of a fork that was not resumed by its request', () => {
    const copy = recordOf('interrupted', { runMode: 'branch', updatedAt: 1_000 });
    expect(decideSweep(copy, undefined, 9_000)).toBe('nothing');
    expect(decideSweep(copy, undefined, 9_001)).toBe('continue');
    const stopped = recordOf('interrupted', { runMode: 'with_confirmation', updatedAt: 1_000 });
    expect(decideSweep(stopped, undefined, 9_001)).toBe('look');
    expect(decideSweep(recordOf('completed', { runMode: 'branch' }), undefined, 9_001)).toBe(
      'forget',
    );
  });

  it('decideSweep forgets an unknown session', () => {
    expect(decideSweep(undefined, undefined, 0)).toBe('forget');
  });

  it.each(LIVE)(
    'decideSweep asks Temporal about a run that is %s, then starts or ends it',
    (status) => {
      expect(decideSweep(recordOf(status), undefined, 10_001)).toBe('look');
      expect(decideSweep(recordOf(status), 'unknown', 0)).toBe('start');
      expect(decideSweep(recordOf(status), 'closed', 0)).toBe('fail');
      expect(decideSweep(recordOf(status), 'running', 0)).toBe('nothing');
    },
  );

  it('decideSweep asks about a run only if something may be lost', () => {
    const look = (status: RunStatus, now: number, extra: Partial<SessionRecord> = {}): string =>
      decideSweep(recordOf(status, extra), undefined, now);
    expect([look('starting', 2_000), look('starting', 2_001)]).toEqual(['nothing', 'look']);
    expect([look('running', 4_000), look('running', 4_001)]).toEqual(['nothing', 'look']);
    expect(look('running', 1, { deadline: 1 })).toBe('look');
    expect(look('waiting_tool', 1, { stream: 'paused' })).toBe('look');
    const answered = { resume, resumeTaken: false };
    expect(look('running', 2_001, answered)).toBe('look');
    expect(look('running', 2_001, { resume, resumeTaken: true })).toBe('nothing');
    expect(look('running', 2_001, { wakes: [] })).toBe('look');
  });

  it('decideSweep gives up a run that was not started in time, and no other', () => {
    const late = START_WITHIN_MS + 1;
    expect(decideSweep(recordOf('starting'), 'unknown', START_WITHIN_MS)).toBe('start');
    expect(decideSweep(recordOf('starting'), 'unknown', late)).toBe('give_up');
    expect(decideSweep(recordOf('starting'), 'running', late)).toBe('nothing');
    // Temporal lost a workflow that had been active.
    expect(decideSweep(recordOf('waiting_tool'), 'unknown', late)).toBe('start');
  });

  it('decideSweep enforces a stop that no writer confirms', () => {
    const stopped = recordOf('running', { stop: { mode: 'abort' }, updatedAt: 1_000 });
    expect(decideSweep(stopped, 'running', 3_000)).toBe('nothing');
    expect(decideSweep(stopped, undefined, 3_001)).toBe('enforce');
  });

  it('decideSweep wakes a run that has not taken its answers for a while', () => {
    const record = recordOf('running', { resume, updatedAt: 1_000 });
    expect(decideSweep(record, 'running', 2_000)).toBe('nothing');
    expect(decideSweep(record, 'running', 3_001)).toBe('wake');
    expect(decideSweep(record, 'closed', 9_000)).toBe('fail');
  });

  it('decideSweep wakes a silent run that is active while nothing is in progress for it', () => {
    for (const status of ['starting', 'running', 'waiting_children'] as const) {
      expect(decideSweep(recordOf(status), 'resting', 2_001)).toBe('wake');
      // An answer may be on its way to the workflow.
      expect(decideSweep(recordOf(status), 'resting', 2_000)).toBe('nothing');
      expect(decideSweep(recordOf(status), 'running', 60_000)).toBe('nothing');
    }
    for (const status of ['waiting_approval', 'waiting_tool'] as const) {
      const paused = recordOf(status, { stream: 'paused' });
      expect(decideSweep(paused, 'resting', 60_000)).toBe('nothing');
    }
  });

  it('decideSweep leaves a run alone whose approved tool runs for long', () => {
    const record = recordOf('running', { resume, resumeTaken: true, updatedAt: 1_000 });
    expect(decideSweep(record, 'running', 60_000)).toBe('nothing');
  });
});

const lookOf = (isAtWork: boolean, ...children: string[]): WorkflowLook => ({
  state: 'running',
  isAtWork,
  started: [],
  children,
});

/** Returns the seconds until the next sweep, or the session's state. */
async function againAfter(
  silentMs: number,
  extra: Partial<SessionRecord> = {},
  status: RunStatus = 'running',
) {
  const record = recordOf(status, { ...extra, updatedAt: Date.now() - silentMs });
  const unused = (): Promise<never> => Promise.reject(new Error('not expected'));
  const woken: string[] = [];
  const sweep = createSweepSession({
    store: {
      sessions: { read: () => Promise.resolve(record) },
      waiting: { note: unused },
    } as never,
    workflows: {
      look: () => Promise.resolve(lookOf(true)),
      wake: (runId) => Promise.resolve(void woken.push(runId)),
    },
    findUnseen: undefined,
    startRun: unused,
    endLost: unused,
    endUnstarted: unused,
    enforceStop: unused,
    startNext: unused,
    continueCopy: unused,
    expireCalls: unused,
    isHeld: () => Promise.resolve(false),
    startWithinMs: START_WITHIN_MS,
    meter: () => undefined,
    logger: { warn: () => undefined },
  });
  const swept = await sweep('s');
  expect(woken).toEqual(record.resume === undefined ? [] : [record.runId]);
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
});

describe('a sweep of a run that waits for sub-agents', () => {
  /** Returns the woken runs; `looks` limits the sweep's requests to Temporal. */
  async function wokenOf(runs: Record<string, WorkflowLook>, looks = Infinity): Promise<string[]> {
    const record = recordOf('waiting_children', { updatedAt: Date.now() - 60_000 });
    const unused = (): Promise<never> => Promise.reject(new Error('not expected'));
    const woken: string[] = [];
    const seen: string[] = [];
    const sweep = createSweepSession({
      store: { sessions: { read: () => Promise.resolve(record) } } as never,
      workflows: {
        look: (runId) => Promise.resolve(runs[runId] ?? lookOf(true)),
        wake: (runId) => Promise.resolve(void woken.push(runId)),
      },
      findUnseen: (runId) => seen.push(runId),
      startRun: unused,
      endLost: unused,
      endUnstarted: unused,
      enforceStop: unused,
      startNext: unused,
      continueCopy: unused,
      expireCalls: unused,
      isHeld: () => Promise.resolve(false),
      startWithinMs: START_WITHIN_MS,
      meter: () => undefined,
      logger: { warn: () => undefined },
    });
    await sweep('s', { looks, starts: 1 });
    expect(seen).toEqual(Object.keys(runs).slice(0, 50));
    return woken;
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
  const done: string[] = [];
  const sweep = createSweepSession({
    store: { sessions: { read: () => Promise.resolve(record) } } as never,
    workflows: {
      look: () => Promise.resolve(NOTHING),
      wake: (runId: string) => Promise.resolve(void done.push(`wake ${runId}`)),
    },
    startRun: ({ runId }: SessionRecord) => Promise.resolve(void done.push(`start ${runId}`)),
    isHeld: () => Promise.resolve(false),
    startWithinMs: START_WITHIN_MS,
    meter: () => undefined,
  } as never);
  expect(await sweep('s')).toMatchObject({ kind: 'active' });
  expect(done).toEqual(['start s:1-x', 'wake s:1-x', 'wake s.x:1-y']);
});

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Opens a sweep over sessions in this state, with a clock. */
function open(found: SweptSession) {
  let time = 1_000_000;
  const { store } = createMemoryStores({ now: () => time });
  const looked: string[] = [];
  const sweep = createSweep({
    store,
    holder: 'x',
    logger: { warn: () => undefined },
    runs: {
      sweepSession: (sessionId) => {
        looked.push(sessionId);
        return Promise.resolve(found);
      },
      finishErasures: () => Promise.resolve(true),
    },
  });
  /** Advances the clock and returns the sessions that the sweep looked at. */
  const after = async (ms: number): Promise<string[]> => {
    time += ms;
    await sweep();
    return looked.splice(0);
  };
  return { due: store.due, after };
}

it('a sweep looks into every shard', async () => {
  const { due, after } = open({ kind: 'idle' });
  const ofShard = new Map<number, string>();
  for (let n = 0; ofShard.size < DUE_SHARDS; n += 1)
    ofShard.set(dueShardOf(`s${String(n)}`), `s${String(n)}`);
  const ids = [...ofShard.values()].sort();
  for (const id of ids) await due.note(id, 0);
  expect((await after(SECOND)).sort()).toEqual(ids);
});

it.each<[string, SweptSession, waits: number[]]>([
  ['at work: when that says', { kind: 'active', againMs: 5 * SECOND }, [5 * SECOND, 5 * SECOND]],
  [
    'waiting: once more, and when its deadline is over',
    { kind: 'waiting', untilDeadlineMs: 5 * MINUTE },
    [10 * SECOND, 5 * MINUTE + SECOND],
  ],
  [
    'waiting for long: once more, and within the hour',
    { kind: 'waiting', untilDeadlineMs: 500 * HOUR },
    [10 * SECOND, HOUR],
  ],
])('a session is looked at again, %s', async (_, found, waits) => {
  const { due, after } = open(found);
  await due.note('s1', 0);
  expect(await after(SECOND)).toEqual(['s1']);
  for (const ms of waits) {
    // The sweep spreads its looks over a tenth of the hour.
    const early = ms === HOUR ? 0.15 * HOUR : 2 * SECOND;
    expect(await after(ms - early)).toEqual([]);
    expect(await after(early)).toEqual(['s1']);
  }
});
