// The generator of the Python client with its packages, installed once per machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../engines/cache-folder.mjs';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { projectRoot } from '../system/project.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';

const REQUIREMENTS = join(projectRoot, 'clients', 'python', 'requirements-tools.txt');
/** What the generated code needs. */
const OLDEST = [3, 11];
const LONGEST_MS = 180_000;
const ANSWER_WITHIN_MS = 10_000;

/**
 * `{ python, bin, wheels }`: the interpreter, the folder of the tools' programs, and the packages of
 * tools and client as files, from which they install without a registry.
 *
 * @throws UserError if this machine has no Python of that age, or no registry gives the packages; another
 * error if pip fails although a registry answers
 */
export async function providePythonTools(env = process.env) {
  const python = findOnPath(['python3', 'python'], env);
  const version = python && (await versionOf(python));
  if (version === undefined || isOlder(version, OLDEST)) {
    throw new UserError(`The Python client needs Python ${OLDEST.join('.')} or newer on PATH.`);
  }
  const text = readFileSync(REQUIREMENTS, 'utf8');
  const hash = createHash('sha256').update(text).update(python).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(env), 'python', `${version.join('.')}-${hash}`);
  const isWhole = join(folder, 'whole');
  const wheels = join(folder, 'wheels');
  const tools = { python, bin: join(folder, 'venv', 'bin'), wheels };
  if (existsSync(isWhole)) return tools;
  mkdirSync(dirname(folder), { recursive: true });
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(isWhole)) return;
    await withProgress('Installing the generator of the Python client', async () => {
      // Programs of a venv know its path, so it is made at its place.
      rmSync(folder, { recursive: true, force: true });
      await run(python, ['-m', 'venv', join(folder, 'venv')]);
      await installPackages(tools, env);
    });
    writeFileSync(isWhole, '');
  });
  return tools;
}

/** @throws Error if pip fails although its registry answers: a fault here, and no reason to do without */
async function installPackages({ bin, wheels }, env) {
  const pip = join(bin, 'pip');
  const list = ['--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS];
  try {
    await run(pip, ['download', '--dest', wheels, ...list]);
    await run(pip, ['install', '--no-index', '--find-links', wheels, ...list]);
  } catch (error) {
    if (!(await answers(await indexOf(pip, env)))) throw error;
    throw new Error('pip failed, although the package index answers', { cause: error });
  }
}

async function indexOf(pip, env) {
  if (env.PIP_INDEX_URL) return env.PIP_INDEX_URL;
  const { code, stdout } = await runCommand(pip, ['config', 'get', 'global.index-url']);
  return code === 0 ? stdout.trim() : 'https://pypi.org/simple';
}

/** True for a package index that this machine reaches. */
async function answers(index) {
  const url = `${index.replace(/\/$/, '')}/httpx-sse/`;
  const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).catch(
    () => null,
  );
  await reply?.body?.cancel();
  return reply?.ok === true;
}

/** @throws UserError with what it printed, if it fails */
export async function run(file, args, options = {}) {
  const { code, stdout, stderr } = await runCommand(file, args, {
    timeoutMs: LONGEST_MS,
    ...options,
  });
  if (code === 0) return;
  throw new UserError(`${file} ${args[0]} failed:\n${lastLines(stdout + stderr)}`);
}

async function versionOf(python) {
  const { code, stdout } = await runCommand(python, ['--version']);
  const numbers = /^Python (\d+)\.(\d+)/.exec(stdout);
  return code === 0 && numbers ? numbers.slice(1, 3).map(Number) : undefined;
}

function isOlder([major, minor], [otherMajor, otherMinor]) {
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
