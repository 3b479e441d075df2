// `npm run bench`, `bench:peers` and `soak`: run programs of bench/ on engines of their own. Further
// arguments go to the program.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { startPrivateRedis, startPrivateTemporal } from './engines/private-engines.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { cacheFolder, projectRoot, runMain } from './system/project.mjs';
import { outputOf, runInForeground } from './system/run-command.mjs';

const PEERS = join(projectRoot, 'bench', 'peers', 'programs');
/** Peers that need a build after their installation. */
const BUILDS = { 'vercel-workflow': ['node_modules/nitro/dist/cli/index.mjs', 'build'] };
/** Requirements of each program beyond engines. */
const PROGRAMS = {
  measures: { main: 'bench/main.js' },
  peers: {
    main: 'bench/peers/main.js',
    prepare: async () => ({ PEERS_FOLDER: await installPeers() }),
  },
  soak: { main: 'bench/soak/main.js' },
};

await runMain(async () => {
  const [name, ...args] = process.argv.slice(2);
  const { main, prepare } = PROGRAMS[name];
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
  const env = name === 'measures' ? { ...engines, ...process.env } : { ...process.env, ...engines };
  try {
    const program = ['--max-semi-space-size=64', join(projectRoot, 'dist', main), ...args];
    process.exitCode = await runInForeground(process.execPath, program, {
      cwd: projectRoot,
      env: { ...env, ...programs, ...own },
    });
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
  }
});

/**
 * Installs the peers' programs in the cache with their packages, and builds those that need it. A hash of the
 * contents names the folder, so a changed program is installed again.
 *
 * @returns the folder
 */
async function installPeers() {
  const folder = join(cacheFolder(), 'peers', hashOf(PEERS));
  for (const name of readdirSync(PEERS).filter((each) => each !== 'shared')) {
    const target = join(folder, name);
    if (existsSync(target)) continue;
    const draft = `${target}.${process.pid}`;
    console.error(`installing ${name} …`);
    cpSync(join(PEERS, name), draft, { recursive: true });
    cpSync(join(PEERS, 'shared'), join(draft, 'shared'), { recursive: true });
    await outputOf('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: draft,
    });
    // The build's output contains its own paths, so it runs in its final place.
    renameSync(draft, target);
    try {
      if (BUILDS[name] !== undefined)
        await outputOf(process.execPath, BUILDS[name], { cwd: target });
    } catch (error) {
      rmSync(target, { recursive: true, force: true });
      throw error;
    }
  }
  return folder;
}

function hashOf(folder) {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(file.slice(folder.length)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
