import { HelixError } from '../protocol/errors.js';
import { TIMES, type Times } from '../protocol/limits.js';
import { type DueSession, DUE_SHARDS } from '../store/contract/due.js';
import type { Store } from '../store/contract/store.js';
import type { Owners } from '../store/contract/owners.js';
import { logEntries, type AuditLogger } from './record/listeners.js';
import type { Runs } from './runs.js';
import type { SweepBudget, SweptSession } from './sweep-session.js';

/**
 * Each shard is swept once a second, by the process that leases it. With 20 shards, a second allows
 * looks at 40 sessions that wait for people, 20 late starts, and 140 requests to Temporal.
 */
const SHARD_MS = 1_000;
const MAX = { urgent: 50, routine: 2 };
const LOOKS = 5;
const STARTS = 1;
/** Shards that one process sweeps at once, and sessions of one shard. */
const SHARDS_AT_ONCE = 4;
const SESSIONS_AT_ONCE = 10;
/**
 * A session found waiting or idle gets one more look after this long, in case the process that
 * noted it had not yet written its change.
 */
const CONFIRM_MS = 10_000;
/** Delay of further looks at a waiting session, spread so that they do not coincide. */
const ROUTINE_MS = 60 * 60 * 1000;
/** Mean pause between a process's sweeps; the leases divide the work. */
const INTERVAL_MS = 500;

export interface SweepDeps {
  store: Pick<Store, 'due' | 'waiting' | 'owners' | 'audit' | 'files'>;
  runs: Pick<Runs, 'sweepSession' | 'finishErasures'>;
  /** Name of this process; one process at a time leases each shard. */
  holder: string;
  times?: Times | undefined;
  logger: AuditLogger;
}

/** Creates one sweep over the shards that no process has swept within the last second. */
export function createSweep(deps: SweepDeps): () => Promise<void> {
  const { store, runs, holder, times = TIMES, logger } = deps;
  const { due, waiting, owners, audit, files } = store;
  const repair = createRepair(owners, logger);
  /** Next look at a session whose acts, erasures or files could not be completed. */
  const soon: NextLook = { list: 'urgent', inMs: times.lookAgainMs };

  /**
   * Completes acts and erasures that their process left, and removes the bytes of deleted files.
   * Returns the session's next look, if something is left.
   */
  async function complete(sessionId: string): Promise<NextLook | undefined> {
    try {
      logEntries(logger, await audit.relay(sessionId));
      if (!(await runs.finishErasures(sessionId))) return soon;
      const inMs = await files.reclaim?.(sessionId);
      return inMs === undefined ? undefined : { list: 'routine', inMs };
    } catch (error) {
      logger.warn({ err: error, sessionId }, 'acts, erasures or files are not complete yet');
      return soon;
    }
  }

  async function lookAt(session: DueSession, budget: SweepBudget): Promise<void> {
    const found = await runs.sweepSession(session.sessionId, budget);
    if (found.kind === 'idle') await waiting.forget(session.sessionId);
    // The process that ended or paused the run may have died before it folded.
    if (found.kind !== 'active') await owners.fold(session.sessionId);
    const left = await complete(session.sessionId);
    const next = left === soon ? soon : (toNextLook(session, found) ?? left);
    if (next === undefined) await due.drop(session);
    else await due.put(session, next.list, next.inMs);
  }

  async function sweepShard(shard: number): Promise<void> {
    // If this sweeper dies, another one takes the sessions.
    const taken = await due.take(shard, MAX, times.lookAgainMs);
    const budget = { looks: LOOKS, starts: STARTS };
    // Routine sessions are few.
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

type NextLook = Pick<DueSession, 'list'> & { inMs: number };

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
        // If Redis is away, the sessions are due again when it is back.
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

/** Period in which an owner's conversations are recounted. */
const REPAIR_MS = 60 * 60 * 1000;
/** Owners of one sweep; with more than 36,000 the period is longer. */
const MAX_OWNERS = 10;

/**
 * Recounts the conversations of owners who are due, one owner at a time in the background. Charges
 * are written after the sessions, so a dying process may have lost some.
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
    for (const owner of await owners.take(MAX_OWNERS, REPAIR_MS))
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
