import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { projectRoot } from '../../scripts/system/project.mjs';
import { writeText } from './temp-folder.mjs';

const PARTS = [
  'scripts',
  'config',
  'protocol',
  'ops/temporal',
  'package.json',
  'package-lock.json',
];

/**
 * A project with this project's scripts and settings, but with two processes that do nothing: what
 * is tested is how they are started, watched and stopped. Each of them writes its process id.
 */
export function createStandInProject(folder) {
  const root = join(folder, 'project');
  mkdirSync(root);
  for (const part of PARTS) {
    cpSync(join(projectRoot, part), join(root, part), { recursive: true });
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  writeText(root, 'worker/main.ts', `${PROCESS}\nsetInterval(() => {}, 1e6);\n`);
  writeText(root, 'api/main.ts', `${PROCESS}\n${SERVER}\n`);
  return root;
}

const PROCESS = `
  console.log('up ' + process.pid);
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
`;
const SERVER = `
  import { createServer } from 'node:http';
  createServer((_request, response) => response.end()).listen(process.env.PORT);
`;

/** Starts the product, with or without npm, and lets a test wait for what it prints. */
export function startCommand(root, env = {}, args = [], { throughNpm = false } = {}) {
  const [file, before] = throughNpm
    ? ['npm', ['start']]
    : [process.execPath, [join(root, 'scripts/start.mjs')]];
  const child = spawn(file, [...before, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...engines(), ...env },
  });
  const seen = [];
  const waiting = [];
  const note = (line) => {
    seen.push(line);
    for (const check of [...waiting]) check(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', note);
  }
  const exited = new Promise((resolve) => {
    child.once('close', (code) => {
      note(undefined);
      resolve(code);
    });
  });
  return {
    child,
    exited,
    output: () => seen.join('\n'),
    /** The next line that matches. */
    line(pattern) {
      return new Promise((resolve, reject) => {
        const check = (line) => {
          const match = line?.match(pattern);
          if (line !== undefined && !match) return;
          waiting.splice(waiting.indexOf(check), 1);
          if (match) resolve(match);
          else reject(new Error(`ended without ${pattern}:\n${seen.join('\n')}`));
        };
        waiting.push(check);
      });
    },
  };
}

/** Found by `npm test` already; looking for them again would only cost time. */
function engines() {
  const { TEMPORAL_CLI_PATH, REDIS_SERVER_PATH } = process.env;
  return { TEMPORAL_CLI_PATH, REDIS_SERVER_PATH };
}

/** The process id of an engine, from the file that the start command keeps for it. */
export function enginePid(root, name) {
  const file = join(root, '.data', `${name}.pid.json`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')).pid;
  } catch {
    // The engine died just now, or its file is being written.
    return undefined;
  }
}

/** Of which each process gets those that it needs. */
export const KEYS = {
  OPENAI_API_KEY: 'model-key',
  JWT_SECRET: 'sign-in-key',
  SOME_TOKEN: 'other-key',
};

// A database removes its journal meanwhile.
export const modeOf = (path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;

/** Everything below a folder that others on this machine may read. */
export function openTo(others, folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => (modeOf(path) & others) !== 0);
}
