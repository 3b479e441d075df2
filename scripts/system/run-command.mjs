// Runs a program to its end and keeps what it printed.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { UserError } from './project.mjs';

const KEPT_CHARACTERS = 64_000;

// Child processes must not outlive this process.
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill()));

/**
 * Never throws for a program that fails or does not exist: look-ups ask "does this work?", and
 * the answer is the code. It is undefined when the program did not start or ran out of time.
 */
export function runCommand(file, args, { timeoutMs, onLine, ...options } = {}) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    } catch (error) {
      // Of a path below a file, for instance; others come as events.
      resolve({ code: undefined, stdout: '', stderr: error.message });
      return;
    }
    running.add(child);
    let stdout = '';
    let stderr = '';
    const keep = (text, more) => (text + more).slice(-KEPT_CHARACTERS);
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout = keep(stdout, text);
      onLine?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr = keep(stderr, text);
      onLine?.(text);
    });
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

/** What a program printed to stdout. @throws UserError if it fails, with the end of what it printed */
export async function outputOf(file, args, options) {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code === 0) return stdout;
  const said = lastLines(`${stdout}${stderr}`, 10);
  throw new UserError(`${basename(file)} ${args[0]} failed:\n${said}`);
}

/** The end of a program's output, for an error message that fits on a screen. */
export function lastLines(text, count = 12) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The first executable file of one of these names on PATH, in the order of the names. */
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
 * Runs a program on this terminal and returns its exit code. A signal is passed on, and this
 * process waits for the program to end first: it has servers of its own to stop.
 */
export function runInForeground(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit', ...options });
    // The terminal sends Ctrl-C to the program as well; the others reach only this process.
    const pass = (signal) => signal !== 'SIGINT' && child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, pass);
    child.on('error', reject);
    child.on('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, pass);
      resolve(code ?? 1);
    });
  });
}
