import { spawn } from 'node:child_process';

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
