import { cpSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../scripts/system/files.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { startProgram } from '../support/program.js';
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
 * Creates a project with this project's scripts and settings, but with two idle processes that
 * print their ids. Tests on it cover starting, watching and stopping.
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

/** Starts the product, with or without npm, and lets a test wait for its output. */
export function startCommand(root, env = {}, args = [], { throughNpm = false } = {}) {
  const [file, before] = throughNpm
    ? ['npm', ['start']]
    : [process.execPath, [join(root, 'scripts/start.mjs')]];
  const child = startProgram(file, [...before, ...args], {
    cwd: root,
    env: { ...engines(), ...env },
  });
  return {
    child,
    exited: child.ended.then(({ code }) => code),
    output: child.output,
    /** Resolves to the match of a line that is printed after this call. */
    line(pattern) {
      const from = child.output().length;
      const find = (lines) => lines.slice(from).match(new RegExp(pattern, 'm'));
      return child.prints(pattern, find);
    },
  };
}

/** Returns the engines that `npm test` has already found, which saves another search. */
function engines() {
  const { TEMPORAL_CLI_PATH, REDIS_SERVER_PATH } = process.env;
  return { TEMPORAL_CLI_PATH, REDIS_SERVER_PATH };
}

/** Reads an engine's process id from the file of the start command. */
export function enginePid(root, name) {
  // The engine may have just died, or its file is being written.
  return readJson(join(root, '.data', `${name}.pid.json`))?.pid;
}

/** Keys of which each process gets only those that it needs. */
export const KEYS = {
  OPENAI_API_KEY: 'model-key',
  JWT_SECRET: 'sign-in-key',
  SOME_TOKEN: 'other-key',
};

// The file may be gone, because a database removes its journal meanwhile.
export const modeOf = (path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;

/** Lists everything below a folder that other users of this machine may access. */
export function openTo(others, folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => (modeOf(path) & others) !== 0);
}
