// `npm run rehearse -- --minutes 20`: plays conversations on a Temporal server of four roles with PostgreSQL
// and a Redis Cluster, while each kind of process fails and a deploy rolls. The closing line is the verdict;
// see bench/rehearsal/main.ts. LAB_SHAPE=leg uses that shape.
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildFirst } from './build.mjs';
import { findPostgres, startPostgres } from './engines/postgres.mjs';
import { startRedisCluster } from './engines/redis-cluster.mjs';
import { findRedis } from './engines/redis.mjs';
import { findTemporalPrograms, startTemporalCluster } from './engines/temporal-cluster.mjs';
import { findTemporal } from './engines/temporal.mjs';
import { installPackages } from './install.mjs';
import { PLANTED, readOptions } from './system/options.mjs';
import { claimLowPort } from './system/ports.mjs';
import { projectRoot, runMain } from './system/project.mjs';

const OPTIONS = {
  minutes: { takes: 'n', least: 0.1, default: 20, says: 'how long people talk' },
  sessions: { takes: 'n', least: 1, default: 200, says: 'conversations at once' },
  waiting: {
    takes: 'n',
    least: 0,
    default: 200,
    says: 'runs that wait for people until the deploy',
  },
  plant: PLANTED,
  calm: { says: 'no faults, for comparison' },
  beside: { takes: 'folder', says: 'dist of another build, for one worker until the deploy' },
};

await runMain(async () => {
  const options = readOptions('npm run rehearse', OPTIONS, process.argv.slice(2));
  await installPackages();
  await buildFirst();
  const main = join(projectRoot, 'dist', 'bench', 'rehearsal', 'main.js');
  const { rehearse } = await import(pathToFileURL(main).href);
  const programs = {
    cli: await findTemporal(),
    temporal: await findTemporalPrograms(),
    postgres: await findPostgres(),
    redis: await findRedis(),
  };
  const startEngines = (wires) => startCompanyEngines({ programs, wires });
  if (!(await rehearse(startEngines, options))) process.exitCode = 1;
});

// After an error, conversations still wait for replies.
process.exit();

// A company's engines: a Temporal server of four roles on PostgreSQL, and a Redis Cluster.
/**
 * Starts all engines on loopback, in a folder that is deleted at the end.
 *
 * @param programs paths of `temporal` (server and SQL tool), `cli`, `redis`, and the folder `postgres`
 * @param wires `announced` and `reach` of the engines, if given (scripts/engines/redis-cluster.mjs)
 */
async function startCompanyEngines({ programs, wires = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'helix-company-'));
  // PostgreSQL runs as another user, who must read the folder.
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
