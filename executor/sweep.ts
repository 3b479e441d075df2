import { HelixError } from '../protocol/errors.js';
import type { DueSession } from '../stores/contract/due.js';
import { DUE_SHARDS } from '../stores/record/due-shards.js';
import type { Store } from '../stores/contract/store.js';
import type { Attended, SweepBudget } from './attend.js';
import { createRepair } from './repair-owners.js';
import type { RunExecutor } from './temporal-executor.js';

/**
 * A shard is swept once a second, by whoever leases it: with 20 shards at most 40 sessions a second
 * are looked at that wait for people, 20 are started that were not, and Temporal is asked about 140.
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
 * What is found waiting or at rest is looked at once more: whoever noted it may have been slow to do
 * what it was noted for.
 */
const CONFIRM_MS = 10_000;
/** Then again after this long, if it waits; spread, so that they do not come all at once. */
const ROUTINE_MS = 60 * 60 * 1000;
/** Entries of release 0.2.0 that are taken in within a second. */
const ADOPTED = 500;

export interface SweepDeps {
  store: Pick<Store, 'due' | 'waiting' | 'owners'>;
  executor: Pick<RunExecutor, 'attend'>;
  /** Who sweeps: of each shard one process at a time. */
  holder: string;
  logger: { warn: (fields: object, message: string) => void };
}

/** One sweep over the shards that nobody else has swept within the last second. */
export function createSweep({ store, executor, holder, logger }: SweepDeps): () => Promise<void> {
  const { due, waiting, owners } = store;
  const repair = createRepair(owners, logger);

  async function lookAt(session: DueSession, budget: SweepBudget): Promise<void> {
    const found = await executor.attend(session.sessionId, budget);
    if (found.kind === 'rests') await waiting.forget(session.sessionId);
    // The process that ended or paused its run may have died before it folded.
    if (found.kind !== 'works') await owners.fold(session.sessionId);
    const next = toNextLook(session, found);
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
        // An outage: this session is due again. Anything else should be read by somebody.
        if (!HelixError.isInstance(error)) logger.warn({ err: error, sessionId }, 'sweep failed');
      }
    });
  }

  return async () => {
    const shards = shuffled(Array.from({ length: DUE_SHARDS }, (_, shard) => shard));
    await inLanes(shards, SHARDS_AT_ONCE, async (shard) => {
      if (!(await due.lease(shard, holder, SHARD_MS))) return;
      if (shard === 0) await due.adopt(ADOPTED);
      await sweepShard(shard);
      if (shard === 0) repair();
    });
  };
}

/** Where a session is looked at next, by how it was found; undefined: nowhere. Pure but for chance. */
function toNextLook(
  { list }: DueSession,
  found: Attended,
): (Pick<DueSession, 'list'> & { inMs: number }) | undefined {
  if (found.kind === 'works') return { list: 'urgent', inMs: found.againMs };
  if (list === 'urgent') return { list: 'routine', inMs: CONFIRM_MS };
  if (found.kind === 'rests') return undefined;
  const routine = ROUTINE_MS * (0.9 + Math.random() / 10);
  // Its workflow's own timer comes first.
  const deadline = found.untilDeadlineMs + SHARD_MS;
  return deadline < routine
    ? { list: 'urgent', inMs: deadline }
    : { list: 'routine', inMs: routine };
}

async function inLanes<T>(
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

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
