// Runs programs to their end and captures their output.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { UserError } from './project.mjs';

const KEPT_CHARACTERS = 64_000;

// Child processes must not outlive this process.
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill()));

/**
 * Runs a program; never throws if it fails or does not exist, because look-ups only test whether it works.
 * `code` is undefined if it did not start or ran out of time.
 */
export function runCommand(file, args, { timeoutMs, ...options } = {}) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    } catch (error) {
      // spawn throws for some paths, such as one below a file; other failures arrive as events.
      resolve({ code: undefined, stdout: '', stderr: error.message });
      return;
    }
    running.add(child);
    let stdout = '';
    let stderr = '';
    const keep = (text, more) => (text + more).slice(-KEPT_CHARACTERS);
    child.stdout?.setEncoding('utf8').on('data', (text) => (stdout = keep(stdout, text)));
    child.stderr?.setEncoding('utf8').on('data', (text) => (stderr = keep(stderr, text)));
    const timer = timeoutMs && setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: undefined, stdout, stderr: stderr || error.message });
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: code ?? undefined, stdout, stderr });
    });
  });
}

/** Returns a program's stdout. @throws UserError with the end of its output if it fails */
export async function outputOf(file, args, options) {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code === 0) return stdout;
  const said = lastLines(`${stdout}${stderr}`, 10);
  throw new UserError(`${basename(file)} ${args[0]} failed:\n${said}`);
}

/** Returns the last lines of a program's output, for an error message. */
export function lastLines(text, count = 12) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Returns `--name value` for each entry; a list is several values. */
export function flagsOf(values) {
  return Object.entries(values).flatMap(([name, value]) => [
    `--${name}`,
    ...[value].flat().map(String),
  ]);
}

/** Returns the first executable file of these names on PATH, in the order of the names. */
export function findOnPath(names, env = process.env) {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const name of names) {
    for (const folder of folders) {
      const candidate = join(folder, name);
      if (isExecutable(candidate)) return candidate;
    }
  }
  return undefined;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program on this terminal and returns its exit code. Passes signals on and waits for the program,
 * which has servers of its own to stop.
 */
export function runInForeground(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit', ...options });
    // Ctrl-C reaches the program from the terminal; other signals reach only this process.
    const pass = (signal) => signal !== 'SIGINT' && child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, pass);
    child.on('error', reject);
    child.on('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, pass);
      resolve(code ?? 1);
    });
  });
}
