// `helix-temporal dev`, `api` and `worker`: run the product with a person's own agents.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, join, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { importClosure } from '../build/import-closure.mjs';
import { UsageError, UserError } from '../system/project.mjs';
import { checkAgents } from './check-agents.mjs';
import { startChildProcess } from './child-process.mjs';
import { startOneProcess, startProduct } from './product.mjs';
import { readSettings } from './settings.mjs';

const USUAL = ['agents.ts', 'agents.js', 'agents.mjs', 'src/agents.ts', 'src/agents.js'];

/**
 * Runs engines, worker, API and page, and reloads the file after changes.
 *
 * @param options.file of the agents; default: AGENTS, or a usual name
 * @param options.command another program to run, such as a page's server
 */
export async function startDevelopment({ file, command, folder = process.cwd() }) {
  loadEnvFile(folder);
  const agents = findAgents(file, folder);
  const env = { ...process.env, AGENTS: agents, DATA_DIR: process.env.DATA_DIR || '.helix' };
  let names;
  await startProduct({
    settings: readSettings(env, folder),
    launch: { cwd: folder, withholdsKeys: false },
    prepare: async ({ signal }) => {
      names = await checkAgents(agents, { folder, signal });
    },
    onUp: ({ url, processes, fleet, say, signal }) => {
      say(`  Agents: ${names.join(', ')}. Changes of ${shown(agents, folder)} are taken over.\n\n`);
      if (command?.length > 0) startBeside(command, { url, folder, fleet, say });
      fleet.add(
        watchImports(resolve(folder, agents), folder, () =>
          takeOver({ agents, folder, processes, say, signal }),
        ),
      );
    },
  });
}

/** Runs one process in production, with the settings of `npm run start:api`. Returns its exit code. */
export function startAlone(role, { file, folder = process.cwd() }) {
  const agents = findAgents(file, folder);
  return startOneProcess(role, {
    settings: readSettings({ ...process.env, AGENTS: agents }, folder),
    launch: { cwd: folder, withholdsKeys: false },
    prepare: ({ signal }) => checkAgents(agents, { folder, signal }),
  });
}

function findAgents(file, folder) {
  const given = file || process.env.AGENTS;
  if (given) return isAbsolute(given) ? given : `./${relative(folder, resolve(folder, given))}`;
  const found = USUAL.find((name) => existsSync(resolve(folder, name)));
  if (found) return `./${found}`;
  throw new UsageError(
    `No file of agents was named, and ${folder} has no agents.ts. ` +
      'Name one (helix-temporal dev ./agents.ts), or begin with helix-temporal init.',
  );
}

/** Variables that are already set win. */
function loadEnvFile(folder) {
  const file = resolve(folder, '.env');
  if (!existsSync(file)) return;
  for (const [name, value] of Object.entries(parseEnv(readEnvFile(file)))) {
    process.env[name] ??= value;
  }
}

function readEnvFile(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = { EACCES: 'this user may not', EISDIR: 'it is a folder' }[error.code];
    const reason = why === undefined ? error.code : `${why} (${error.code})`;
    throw new UsageError(`${file} cannot be read: ${reason}.`);
  }
}

async function takeOver({ agents, folder, processes, say, signal }) {
  const file = shown(agents, folder);
  const startedAt = Date.now();
  try {
    const names = await checkAgents(agents, { folder, signal });
    await processes.replace();
    say(`${file} was taken over in ${Date.now() - startedAt} ms: ${names.join(', ')}\n`);
  } catch (error) {
    if (error?.name === 'AbortError') return;
    const reason = error instanceof UserError ? error.message : error.stack;
    say(`${reason}\nThe agents run as they were before this change.\n`);
  }
}

function startBeside([program, ...args], { url, folder, fleet, say }) {
  const started = startChildProcess(program, args, {
    cwd: folder,
    env: { ...process.env, HELIX_URL: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  fleet.add(started);
  void started.exited.then(({ reason }) => say(`${program} ended (${reason}).\n`));
}

function shown(agents, folder) {
  return relative(folder, resolve(folder, agents));
}

// Watches a file and everything that it imports by a relative path.

/** Editors replace files and containers mount folders, so polling is more reliable than notifications. */
const EVERY_MS = 300;

/** Calls `onChange` after each change, never concurrently. Returns a member of the fleet. */
function watchImports(file, folder, onChange) {
  const entry = relative(folder, file).split(sep).join('/');
  let seen = contentsOf(folder, entry);
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    const now = contentsOf(folder, entry);
    if (now === undefined || now === seen) return;
    seen = now;
    busy = true;
    await onChange();
    busy = false;
  }, EVERY_MS);
  const stop = () => clearInterval(timer);
  return { stop, kill: stop };
}

/** Returns undefined while an editor replaces one of the files. */
function contentsOf(folder, entry) {
  const hash = createHash('sha256');
  try {
    for (const file of importClosure(folder, [entry])) {
      hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
    }
  } catch {
    return undefined;
  }
  return hash.digest('hex');
}
