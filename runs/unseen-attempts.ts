import type { RunMeter } from '../protocol/telemetry.js';
import type { Leases } from '../store/contract/leases.js';
import type { RunWorkflows } from './run-workflows.js';
import type { StartedAttempt, WorkflowLook } from './workflow-look.js';

/** A worker that gets an attempt registers it within this time. */
const GRACE_MS = 3_000;
/**
 * Attempts whose worker was heard of, and is not registered, wait for so many times the grace: workers
 * of releases without leases send heartbeats every 4 s at least.
 */
const HEARD_ROUNDS = 3;
/** Runs that one process watches at once: a dead worker's polls take one task each. */
const MOST_WATCHED = 200;
/** What Temporal does not answer is asked again after the grace, for about a minute. */
const MOST_TRIES = 15;

export interface UnseenAttemptsDeps {
  /** Those of the workflows' namespace. */
  leases: Pick<Leases, 'holders' | 'registered'>;
  workflows: Pick<RunWorkflows, 'look' | 'retry'>;
  meter: RunMeter;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Looks for attempts that Temporal has given away and no worker has: the answer to the poll was lost, or
 * its worker died before it registered the attempt, or after it had finished it. Only the heartbeat
 * time-out would end such an attempt, so Temporal is asked to begin another one; a worker that only was
 * slow is then fenced off by the claim.
 *
 * @param look what Temporal knows of the run
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

  /** Ends when none is left, also of the attempts that follow. */
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
      // Workers without leases register nothing: heartbeats tell of them.
      if ((await leases.holders()).length === 0) return;
      await watch(runId, look);
    } finally {
      watched.delete(runId);
    }
  }

  /**
   * What loses attempts also keeps Temporal from answering, and the sweeper looks at a silent run
   * seldom: a look that failed is repeated here.
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
        // It has been logged.
      }
    }
    askedAgain.delete(runId);
  }

  return (runId, look) => {
    if (askedAgain.has(runId)) return;
    // It lasts as long as attempts are unseen.
    find(runId, look).catch((error: unknown) => askAgain(runId, error));
  };
}

/** An attempt, and how often it was seen in a row without a sign of its worker. */
interface Sighting {
  attempt: StartedAttempt;
  rounds: number;
}

/** Leaves out those whose worker was heard of meanwhile. Pure. */
function see(unseen: readonly StartedAttempt[], before: readonly Sighting[] = []): Sighting[] {
  return unseen.flatMap((attempt) => {
    const last = before.find((sighting) => sighting.attempt.id === attempt.id);
    if (last !== undefined && last.attempt.heardAt !== attempt.heardAt) return [];
    return [{ attempt, rounds: last === undefined ? 0 : last.rounds + 1 }];
  });
}

/** Keeps no process alive. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GRACE_MS).unref();
  });
}
