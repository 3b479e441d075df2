import { execFile } from 'node:child_process';

const WITHIN_MS = 60_000;
const MAX_BYTES = 64_000_000;

/** All that an npm command printed, whether it succeeded or not; undefined if it took too long. */
export function npmOutput(args, { cwd, env = process.env }) {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: WITHIN_MS, maxBuffer: MAX_BYTES };
    execFile('npm', args, options, (error, stdout) => {
      if (error?.killed) resolve(undefined);
      else if (typeof error?.code === 'string') reject(error);
      else resolve(stdout);
    });
  });
}
