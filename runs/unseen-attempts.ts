import type { RunMeter } from '../protocol/telemetry.js';
import type { Leases } from '../store/contract/leases.js';
import type { RunWorkflows } from './run-workflows.js';
import type { StartedAttempt, WorkflowLook } from './workflow-look.js';

/** Time for a worker to register an attempt that it got. */
const GRACE_MS = 3_000;
/**
 * Rounds of the grace for unregistered attempts whose worker sent heartbeats: workers of releases
 * without leases send one every 4 s at least.
 */
const HEARD_ROUNDS = 3;
/** Runs that one process watches at once: a dead worker's polls take one task each. */
const MOST_WATCHED = 200;
/** Retries of a failed look, one after each grace, for about a minute. */
const MOST_TRIES = 15;

export interface UnseenAttemptsDeps {
  leases: Pick<Leases, 'holders' | 'registered'>;
  workflows: Pick<RunWorkflows, 'look' | 'retry'>;
  meter: RunMeter;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Looks for attempts that Temporal gave away and no worker has: the poll's answer was lost, or the
 * worker died before it registered the attempt or after it finished it. Only the heartbeat time-out
 * would end them, so Temporal is asked for another one; a slow worker is fenced off by the claim.
 */
export type FindUnseen = (runId: string, look: WorkflowLook) => void;

export function createFindUnseen(deps: UnseenAttemptsDeps): FindUnseen {
  const { leases, workflows, meter, logger } = deps;
  const watched = new Set<string>();
  const askedAgain = new Set<string>();

  async function unseenOf({ started }: WorkflowLook): Promise<StartedAttempt[]> {
    if (started.length === 0) return [];
    const registered = await leases.registered(started.map(({ id }) => id));
    return started.filter(({ id }) => !registered.has(id));
  }

  async function watch(runId: string, look: WorkflowLook): Promise<void> {
    let sightings = see(await unseenOf(look));
    while (sightings.length > 0) {
      await pause();
      sightings = see(await unseenOf(await workflows.look(runId)), sightings);
      for (const { attempt, rounds } of sightings) {
        if (rounds < (attempt.heardAt === 0 ? 1 : HEARD_ROUNDS)) continue;
        const { activityId } = attempt;
        logger.warn({ runId, activityId }, 'no worker has an attempt that was given to one');
        await workflows.retry(attempt);
        meter({ kind: 'session_swept', found: 'unseen' });
      }
    }
  }

  async function find(runId: string, look: WorkflowLook): Promise<void> {
    if (look.started.length === 0 || watched.has(runId) || watched.size >= MOST_WATCHED) return;
    watched.add(runId);
    try {
      // Workers without leases register nothing; their heartbeats show that they live.
      if ((await leases.holders()).length === 0) return;
      await watch(runId, look);
    } finally {
      watched.delete(runId);
    }
  }

  /**
   * Repeats a failed look. An outage that loses attempts also keeps Temporal from answering, and
   * the sweeper rarely looks at a silent run.
   */
  async function askAgain(runId: string, err: unknown): Promise<void> {
    logger.warn({ err, runId }, 'attempts of a run could not be looked at');
    if (askedAgain.has(runId) || askedAgain.size >= MOST_WATCHED) return;
    askedAgain.add(runId);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      await pause();
      try {
        await find(runId, await workflows.look(runId));
        break;
      } catch {
        // The failure was logged before.
      }
    }
    askedAgain.delete(runId);
  }

  return (runId, look) => {
    if (askedAgain.has(runId)) return;
    // The search lasts as long as attempts are unseen.
    find(runId, look).catch((error: unknown) => askAgain(runId, error));
  };
}

/** An attempt, and the number of sightings in a row without a sign of its worker. */
interface Sighting {
  attempt: StartedAttempt;
  rounds: number;
}

/** Counts sightings; leaves out attempts whose worker was heard of since. Pure. */
function see(unseen: readonly StartedAttempt[], before: readonly Sighting[] = []): Sighting[] {
  return unseen.flatMap((attempt) => {
    const last = before.find((sighting) => sighting.attempt.id === attempt.id);
    if (last !== undefined && last.attempt.heardAt !== attempt.heardAt) return [];
    return [{ attempt, rounds: last === undefined ? 0 : last.rounds + 1 }];
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GRACE_MS).unref();
  });
}
