import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Engines, StartEngines } from './company.js';
import { startFleet, type Fleet } from './fleet.js';
import type { Options } from './options.js';
import { play, TASK_QUEUE } from './play.js';
import { onOneQueue, withWorkerVersions } from './rollout.js';
import { createWires } from './wires.js';

export { readOptions } from './options.js';

/**
 * Conversations of every kind on the engines of a company, while each kind of process is killed,
 * stopped and cut off, and a deploy is rolled at half time. The closing line says what was found.
 *
 * @returns whether nothing was found
 */
export async function rehearse(startEngines: StartEngines, options: Options): Promise<boolean> {
  const startedAt = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'helix-rehearsal-'));
  const say = (text: string): void => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0).padStart(5);
    const line = `${seconds} s  ${text}\n`;
    process.stderr.write(line);
    appendFileSync(join(folder, 'rehearsal.log'), line);
  };
  const rollout = options.beside === undefined ? withWorkerVersions() : onOneQueue(options.beside);
  const wires = createWires();
  let engines: Engines | undefined;
  let connection: Connection | undefined;
  let fleet: Fleet | undefined;
  let isClean = false;
  try {
    say('starting PostgreSQL, a Temporal server of four roles, and a Redis Cluster of six nodes');
    engines = await startEngines(wires);
    const temporalAddress = engines.temporal.address;
    connection = await Connection.connect({ address: temporalAddress });
    const client = new Client({ connection });
    say('starting three workers of two versions, two APIs and a proxy');
    fleet = await startFleet({
      redisUrl: engines.redis.url,
      temporalAddress,
      taskQueue: TASK_QUEUE,
      versions: rollout.versions,
      client,
      whenStarted: () => rollout.begin(client),
      wires,
      folder,
      say,
    });
    isClean = await play({ engines, fleet, wires, rollout, client, say, folder }, options);
    return isClean;
  } finally {
    await fleet?.stop();
    await connection?.close();
    await engines?.close();
    wires.close();
    if (isClean || options.planted.length > 0) rmSync(folder, { recursive: true });
    else
      process.stderr.write(
        `The logs of the processes, and a report of each stuck conversation, are in ${folder}\n`,
      );
  }
}
