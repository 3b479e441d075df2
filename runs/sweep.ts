import { HelixError } from '../protocol/errors.js';
import { type DueSession, DUE_SHARDS } from '../store/contract/due.js';
import type { Store } from '../store/contract/store.js';
import { logEntries, type AuditLogger } from './record/listeners.js';
import type { Owners } from '../store/contract/owners.js';
import type { Runs } from './runs.js';
import type { SweepBudget, SweptSession } from './sweep-session.js';

/**
 * Each shard is swept once a second, by the process that leases it. With 20 shards, a second allows
 * looks at 40 sessions that wait for people, 20 late starts, and 140 requests to Temporal.
 */
const SHARD_MS = 1_000;
const MOST = { urgent: 50, routine: 2 };
const LOOKS = 5;
const STARTS = 1;
/** Shards that one process sweeps at once, and sessions of a shard. */
const SHARDS_AT_ONCE = 4;
const SESSIONS_AT_ONCE = 10;
/** A session whose sweeper died is due again after this long. */
const TAKEN_MS = 5_000;
/**
 * A session that was found waiting or idle is looked at once more after this long: the process that
 * noted it may not have written yet what it was noted for.
 */
const CONFIRM_MS = 10_000;
/** Then again after this long, if it waits; spread, so that they do not come all at once. */
const ROUTINE_MS = 60 * 60 * 1000;
/** A process sweeps again about this long after its last sweep; the leases share the work out. */
const INTERVAL_MS = 500;

export interface SweepDeps {
  store: Pick<Store, 'due' | 'waiting' | 'owners' | 'audit' | 'files'>;
  runs: Pick<Runs, 'sweepSession' | 'finishErasures'>;
  /** Names this process: each shard is leased by one process at a time. */
  holder: string;
  logger: AuditLogger;
}

/** One sweep over the shards that no process has swept within the last second. */
export function createSweep({ store, runs, holder, logger }: SweepDeps): () => Promise<void> {
  const { due, waiting, owners, audit, files } = store;
  const repair = createRepair(owners, logger);

  /**
   * Completes acts and erasures that their process left, and removes the bytes of files that are gone.
   * Returns when the session needs that again; undefined if nothing is left.
   */
  async function complete(sessionId: string): Promise<NextLook | undefined> {
    try {
      logEntries(logger, await audit.relay(sessionId));
      if (!(await runs.finishErasures(sessionId))) return SOON;
      const inMs = await files.reclaim?.(sessionId);
      return inMs === undefined ? undefined : { list: 'routine', inMs };
    } catch (error) {
      logger.warn({ err: error, sessionId }, 'acts, erasures or files are not complete yet');
      return SOON;
    }
  }

  async function lookAt(session: DueSession, budget: SweepBudget): Promise<void> {
    const found = await runs.sweepSession(session.sessionId, budget);
    if (found.kind === 'idle') await waiting.forget(session.sessionId);
    // The process that ended or paused its run may have died before it folded.
    if (found.kind !== 'active') await owners.fold(session.sessionId);
    const left = await complete(session.sessionId);
    const next = left === SOON ? SOON : (toNextLook(session, found) ?? left);
    if (next === undefined) await due.drop(session);
    else await due.put(session, next.list, next.inMs);
  }

  async function sweepShard(shard: number): Promise<void> {
    const taken = await due.take(shard, MOST, TAKEN_MS);
    const budget = { looks: LOOKS, starts: STARTS };
    // They are few anyway.
    const ofRoutine = { looks: Infinity, starts: STARTS };
    await inLanes(taken, SESSIONS_AT_ONCE, async (session) => {
      try {
        await lookAt(session, session.list === 'urgent' ? budget : ofRoutine);
      } catch (error) {
        const { sessionId } = session;
        // After an outage the session is due again. Any other error is a fault.
        if (!HelixError.isInstance(error)) logger.warn({ err: error, sessionId }, 'sweep failed');
      }
    });
  }

  return async () => {
    const shards = shuffled(Array.from({ length: DUE_SHARDS }, (_, shard) => shard));
    await inLanes(shards, SHARDS_AT_ONCE, async (shard) => {
      if (!(await due.lease(shard, holder, SHARD_MS))) return;
      await sweepShard(shard);
      if (shard === 0) repair();
    });
  };
}

/** Where a session is looked at next. */
type NextLook = Pick<DueSession, 'list'> & { inMs: number };
/** Of a session whose acts or erasures are not complete, or whose files are not removed yet. */
const SOON: NextLook = { list: 'urgent', inMs: TAKEN_MS };

/** Where a session is looked at next; undefined: nowhere. Pure but for chance. */
function toNextLook({ list }: DueSession, found: SweptSession): NextLook | undefined {
  if (found.kind === 'active') return { list: 'urgent', inMs: found.againMs };
  if (list === 'urgent') return { list: 'routine', inMs: CONFIRM_MS };
  if (found.kind === 'idle') return undefined;
  const routine = ROUTINE_MS * (0.9 + Math.random() / 10);
  // The timer of its workflow fires first.
  const deadline = found.untilDeadlineMs + SHARD_MS;
  return deadline < routine
    ? { list: 'urgent', inMs: deadline }
    : { list: 'routine', inMs: routine };
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Repeats a sweep until stopped; `stop` resolves when the sweep in progress is over. */
export function startSweeper(
  sweep: () => Promise<void>,
  logger: { warn: (fields: object, message: string) => void },
): { stop: () => Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let current = Promise.resolve();

  function run(): void {
    current = sweep()
      .catch((error: unknown) => {
        // Redis is away: the sessions are due again when it is back.
        logger.warn({ err: error }, 'sweep failed');
      })
      .finally(() => {
        if (!stopped) timer = setTimeout(run, INTERVAL_MS * (0.5 + Math.random()));
      });
  }
  run();

  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}

/** Works through items, so many at once; rejects with the first failure. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const next = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of next) await work(item);
    }),
  );
}

/** Each owner's conversations are looked through this often. */
const REPAIR_MS = 60 * 60 * 1000;
/** Owners of one sweep: more than 36,000 owners are looked through less often. */
const MOST_OWNERS = 10;

/**
 * Recounts the conversations of owners who are due: what owners are charged is written after their
 * sessions, and may have been lost with a process. In the background, one owner at a time.
 */
export function createRepair(
  owners: Pick<Owners, 'take' | 'repair'>,
  logger: { warn: (fields: object, message: string) => void },
): () => void {
  let isUnderWay = false;
  const warn = (error: unknown): void => {
    logger.warn({ err: error }, "an owner's conversations were not looked through");
  };

  async function repair(): Promise<void> {
    for (const owner of await owners.take(MOST_OWNERS, REPAIR_MS))
      await owners.repair(owner).catch(warn);
  }

  return () => {
    if (isUnderWay) return;
    isUnderWay = true;
    repair()
      .catch(warn)
      .finally(() => {
        isUnderWay = false;
      });
  };
}
