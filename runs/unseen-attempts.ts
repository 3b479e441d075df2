import type { RunMeter } from '../protocol/telemetry.js';
import type { Leases } from '../store/contract/leases.js';
import type { RunWorkflows } from './run-workflows.js';
import type { StartedAttempt, WorkflowLook } from './workflow-look.js';

/** Time for a worker to register an attempt that it got. */
const GRACE_MS = 3_000;
/**
 * Rounds of the grace for unregistered attempts whose worker sent heartbeats: a worker without
 * leases sends one every 4 s at least.
 */
const HEARTBEAT_ROUNDS = 3;
/** Runs that one process watches at once: a dead worker's polls take one task each. */
const MAX_WATCHED = 200;
/** Failed looks at a run, for about a minute; after that it is left to the sweeper. */
const MAX_TRIES = 15;

/**
 * Looks for attempts that Temporal gave away and no worker has: the poll's answer was lost, or the
 * worker died before it registered the attempt or after it finished it. Only the heartbeat time-out
 * would end them, so Temporal is asked for another one; a slow worker is fenced off by the claim.
 */
export type FindUnseen = (runId: string, look: WorkflowLook) => void;

export function createFindUnseen(deps: {
  leases: Pick<Leases, 'holders' | 'registered'>;
  workflows: Pick<RunWorkflows, 'look' | 'retry'>;
  meter: RunMeter;
  logger: { warn: (fields: object, message: string) => void };
}): FindUnseen {
  const { leases, workflows, meter, logger } = deps;
  const watched = new Set<string>();

  /** Returns what is still unseen, after other attempts were demanded in place of silent ones. */
  async function lookAgain(
    runId: string,
    { started }: WorkflowLook,
    before: readonly Sighting[],
  ): Promise<Sighting[]> {
    // Workers without leases register nothing; their heartbeats show that they live.
    if ((await leases.holders()).length === 0) return [];
    const registered = await leases.registered(started.map(({ id }) => id));
    const sightings = see(
      started.filter(({ id }) => !registered.has(id)),
      before,
    );
    for (const { attempt, rounds } of sightings) {
      if (rounds < (attempt.heartbeatAt === 0 ? 1 : HEARTBEAT_ROUNDS)) continue;
      const { activityId } = attempt;
      logger.warn({ runId, activityId }, 'no worker has an attempt that was given to one');
      await workflows.retry(attempt);
      meter({ kind: 'session_swept', found: 'unseen' });
    }
    return sightings;
  }

  /**
   * Looks once in each grace while attempts are unseen. An outage that loses attempts also keeps
   * Temporal from answering, and the sweeper rarely looks at a silent run, so failed looks are
   * repeated.
   */
  async function watch(runId: string, first: WorkflowLook): Promise<void> {
    let sightings: Sighting[] = [];
    let look: WorkflowLook | undefined = first;
    let failures = 0;
    while (failures <= MAX_TRIES) {
      try {
        look ??= await workflows.look(runId);
        sightings = look.started.length === 0 ? [] : await lookAgain(runId, look, sightings);
        if (sightings.length === 0) return;
      } catch (err) {
        if (failures === 0) logger.warn({ err, runId }, 'attempts of a run could not be looked at');
        failures += 1;
      }
      look = undefined;
      await pause();
    }
  }

  return (runId, look) => {
    if (look.started.length === 0 || watched.has(runId) || watched.size >= MAX_WATCHED) return;
    watched.add(runId);
    void watch(runId, look).finally(() => watched.delete(runId));
  };
}

/** An attempt, and the number of sightings in a row without a sign of its worker. */
interface Sighting {
  attempt: StartedAttempt;
  rounds: number;
}

/** Counts sightings; leaves out attempts whose worker has sent a heartbeat since. Pure. */
function see(unseen: readonly StartedAttempt[], before: readonly Sighting[] = []): Sighting[] {
  return unseen.flatMap((attempt) => {
    const last = before.find((sighting) => sighting.attempt.id === attempt.id);
    if (last !== undefined && last.attempt.heartbeatAt !== attempt.heartbeatAt) return [];
    return [{ attempt, rounds: last === undefined ? 0 : last.rounds + 1 }];
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GRACE_MS).unref();
  });
}
