// The engines of a company: a Temporal server of four roles on PostgreSQL, and a Redis Cluster.
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimLowPort } from './low-port.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedisCluster } from './redis-cluster.mjs';
import { startTemporalCluster } from './temporal-cluster.mjs';

/**
 * All of them on loopback, in a folder that goes at the end.
 *
 * @param programs the paths of `temporal` (server and SQL tool), `cli`, `redis`, and the folder `postgres`
 * @param wires where given, `announced` and `reach` of the engines (scripts/engines/redis-cluster.mjs)
 */
export async function startCompanyEngines({ programs, wires = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'helix-company-'));
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o755);
  const started = [];
  const keep = (engine) => started.push(engine);
  const close = async () => {
    await Promise.all(started.map((engine) => engine.kill9()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  const startAll = async () => {
    const port = await claimLowPort();
    await wires.reach?.('postgres', [port]);
    const [redis, postgres] = await Promise.all([
      startRedisCluster({ file: programs.redis, folder: join(folder, 'redis'), keep, ...wires }),
      startPostgres({ programs: programs.postgres, folder: join(folder, 'postgres'), port, keep }),
    ]);
    const temporal = await startTemporalCluster({
      programs: programs.temporal,
      cli: programs.cli,
      postgresPort: port,
      folder: join(folder, 'temporal'),
      keep,
      ...wires,
    });
    return { folder, postgres, redis, temporal, close };
  };
  try {
    return await startAll();
  } catch (error) {
    await close();
    throw error;
  }
}
