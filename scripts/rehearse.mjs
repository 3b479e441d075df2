// `npm run rehearse -- --minutes 20`: conversations on what a company runs, a Temporal server of four
// roles on PostgreSQL and a Redis Cluster, while each kind of process fails and a deploy is rolled.
// The closing line is the verdict; see bench/rehearsal/main.ts. LAB_SHAPE=leg plays it in that shape.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildFirst } from './build.mjs';
import { startCompanyEngines } from './engines/company-engines.mjs';
import { findPostgres } from './engines/postgres.mjs';
import { findRedis } from './engines/redis.mjs';
import { findTemporalPrograms } from './engines/temporal-programs.mjs';
import { findTemporal } from './engines/temporal.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runMain, UserError } from './system/user-error.mjs';

await runMain(async () => {
  await installPackages();
  await buildFirst();
  const main = join(projectRoot, 'dist', 'bench', 'rehearsal', 'main.js');
  const { readOptions, rehearse } = await import(pathToFileURL(main).href);
  const options = asked(() => readOptions(process.argv.slice(2)));
  const programs = {
    cli: await findTemporal(),
    temporal: await findTemporalPrograms(),
    postgres: await findPostgres(),
    redis: await findRedis(),
  };
  const startEngines = (wires) => startCompanyEngines({ programs, wires });
  if (!(await rehearse(startEngines, options))) process.exitCode = 1;
});

function asked(read) {
  try {
    return read();
  } catch (error) {
    throw new UserError(error.message);
  }
}
