import type { Client } from '@temporalio/client';
import { makeCurrent } from '../../worker/versioning.js';
import { untilFound } from '../clock.js';
import type { Say } from '../command.js';
import type { Fleet, Version } from './fleet.js';

/** The way in which workers move to today's version. */
export interface Rollout {
  versions: readonly [Version, Version, Version];
  /** Runs before the processes are ready. */
  begin: (client: Client) => Promise<unknown>;
  /** Replaces all processes, one at a time; returns the number of runs that stayed on the former build. */
  deploy: (client: Client, fleet: Fleet, say: Say) => Promise<number>;
}

const DEPLOYMENT = 'rehearsal';
const BUILDS = ['former', 'today'] as const;
const CURRENT_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 2_000;
/** Runs of the old build have ended or moved within this time. */
const DRAINED_WITHIN_MS = 120_000;

/** Mixes two builds on one queue, either of which takes any run; workers are replaced before APIs. */
export function onOneQueue(build: string): Rollout {
  const today: Version = { env: {} };
  return {
    versions: [{ build, env: {} }, today, today],
    begin: () => Promise.resolve(),
    deploy: async (_, fleet) => {
      fleet.upgrade();
      await replaceAll(fleet);
      return 0;
    },
  };
}

/**
 * Uses two builds of a worker deployment: new runs go to the new build first, waiting runs move to it, and
 * the old build's workers are replaced once they have no runs left.
 */
export function withWorkerVersions(): Rollout {
  const [former, today] = [toVersion(BUILDS[0]), toVersion(BUILDS[1])];
  return {
    versions: [former, former, today],
    begin: (client) => route(client, BUILDS[0]),
    deploy: async (client, fleet, say) => {
      await route(client, BUILDS[1], BUILDS[0]);
      const left = await untilDrained(client, say);
      fleet.upgrade();
      await replaceAll(fleet);
      return left;
    },
  };
}

function toVersion(build: string): Version {
  return { env: { TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: build } };
}

async function replaceAll(fleet: Fleet): Promise<void> {
  for (const member of [...fleet.workers, ...fleet.apis]) await member.replace('SIGTERM');
}

async function route({ connection, options }: Client, buildId: string, from?: string) {
  const rule = from === undefined ? true : { from };
  const version = { deploymentName: DEPLOYMENT, buildId, makeCurrent: rule };
  const signal = AbortSignal.timeout(CURRENT_WITHIN_MS);
  const current = await makeCurrent(connection, options.namespace, version, signal);
  if (current !== buildId) throw new Error(`the build ${buildId} did not become the current one`);
}

/** Waits until the former build has no runs, and returns the last known number; 1 if none was. */
async function untilDrained(client: Client, say: Say): Promise<number> {
  let left = 1;
  const isDrained = async (): Promise<true | undefined> => {
    left = (await countOpen(client)) ?? left;
    say(`${String(left)} runs are on the former build`);
    return left === 0 || undefined;
  };
  await untilFound(isDrained, { withinMs: DRAINED_WITHIN_MS, everyMs: LOOK_EVERY_MS });
  return left;
}

/** Counts the open runs of the former build; undefined while the server does not answer. */
async function countOpen({ workflow }: Client): Promise<number | undefined> {
  const version = `${DEPLOYMENT}:${BUILDS[0]}`;
  const query = `TemporalWorkerDeploymentVersion = '${version}' AND ExecutionStatus = 'Running'`;
  return workflow.count(query).then(
    ({ count }) => count,
    () => undefined,
  );
}
