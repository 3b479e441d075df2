// Runs a program to its end and keeps what it printed.
import { spawn } from 'node:child_process';

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

/** The end of a program's output, for an error message that fits on a screen. */
export function lastLines(text, count = 12) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
