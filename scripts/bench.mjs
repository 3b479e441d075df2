// `npm run bench`, `bench:peers` and `soak`: run programs of bench/ on engines of their own.
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { fingerprint, listFiles } from './build/sources.mjs';
import { npmInstall } from './clients/npm.mjs';
import { startPrivateRedis, startPrivateTemporal } from './engines/private-engines.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { provideFolder } from './system/file-lock.mjs';
import { PLANTED, readOptions } from './system/options.mjs';
import { cacheFolder, projectRoot, runMain } from './system/project.mjs';
import { outputOf, runInForeground } from './system/run-command.mjs';

/** In the order in which they are taken. */
const MEASURES = [
  'first-token',
  'chunk-latency',
  'answer-latency',
  'step-gap',
  'history-size',
  'stop-latency',
  'recovery',
  'long-conversation',
  'concurrent-runs',
  'waiting-memory',
  'attach',
  'sse-clients',
];
/** Some peers have many packages. */
const INSTALL_MS = 30 * 60_000;
const QUICK = { says: 'few samples: shows that everything works, not how fast' };
/** Each program with its options, and what it needs beyond engines. */
const PROGRAMS = {
  bench: {
    main: 'bench/main.js',
    options: {
      only: { takes: 'names', choices: MEASURES, default: 'all', says: 'measurements' },
      quick: QUICK,
      waiting: { takes: 'n', least: 1, default: 1_000, says: 'runs in waiting-memory' },
    },
  },
  'bench:peers': {
    main: 'bench/peers/main.js',
    options: {
      only: { takes: 'name', multiple: true, says: 'those whose names contain this or another' },
      quick: QUICK,
      write: { says: 'put the table into docs/peers.md' },
    },
    prepare: async () => ({ PEERS_FOLDER: await installPeers() }),
  },
  soak: {
    main: 'bench/soak/main.js',
    options: {
      minutes: { takes: 'n', least: 0.1, default: 30, says: 'how long people talk' },
      people: { takes: 'n', least: 1, default: 12, says: 'conversations at once' },
      plant: PLANTED,
    },
  },
};

await runMain(async () => {
  const [name, ...args] = process.argv.slice(2);
  const { main, options, prepare } = PROGRAMS[name];
  const given = readOptions(`npm run ${name}`, options, args);
  await installPackages();
  await buildFirst();
  const own = await prepare?.();
  const programs = await testEnvironment({ withBrowser: false });
  const [redis, temporal] = await Promise.all([
    startPrivateRedis({ file: programs.REDIS_SERVER_PATH }),
    startPrivateTemporal({ file: programs.TEMPORAL_CLI_PATH }),
  ]);
  const engines = { TEST_REDIS_URL: redis.url, TEST_TEMPORAL_ADDRESS: temporal.address };
  // Measures may use given engines; the other programs change the engines' data.
  const env = name === 'bench' ? { ...engines, ...process.env } : { ...process.env, ...engines };
  try {
    const program = [join(projectRoot, 'dist', main), JSON.stringify(given)];
    process.exitCode = await runInForeground(
      process.execPath,
      ['--max-semi-space-size=64', ...program],
      { cwd: projectRoot, env: { ...env, ...programs, ...own } },
    );
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
  }
});

/**
 * Installs the peers' programs with their packages in a cache folder named after their contents, and builds the
 * one that needs it.
 *
 * @returns the folder
 */
async function installPeers() {
  const programs = join(projectRoot, 'bench', 'peers', 'programs');
  const contents = fingerprint(projectRoot, listFiles(projectRoot, 'bench/peers/programs'));
  const folder = join(cacheFolder(), 'peers', contents.slice(0, 12));
  for (const name of readdirSync(programs).filter((each) => each !== 'shared')) {
    await provideFolder(join(folder, name), async (part) => {
      console.error(`installing ${name} …`);
      cpSync(join(programs, name), part, { recursive: true });
      cpSync(join(programs, 'shared'), join(part, 'shared'), { recursive: true });
      await npmInstall([], { cwd: part, timeoutMs: INSTALL_MS });
    });
  }
  // The output contains its own paths, so it is made in its final place.
  const home = join(folder, 'vercel-workflow');
  if (!existsSync(join(home, '.output/server/index.mjs')))
    await outputOf(process.execPath, ['node_modules/nitro/dist/cli/index.mjs', 'build'], {
      cwd: home,
    });
  return folder;
}
