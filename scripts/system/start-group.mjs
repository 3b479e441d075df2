import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '../start/wait-until.mjs';
import { lastLines } from './run-command.mjs';

/**
 * Starts a program in a process group of its own, since programs that start others do not always take
 * them along. Resolves when it has printed the text.
 *
 * @param options.says     a text or a pattern; further options are those of `spawn`
 * @param options.withinMs how long it may take; default: two minutes
 * @throws Error with the end of what it printed if it ends before, or is late
 */
export async function startGroup(file, args, { says, withinMs = 120_000, ...options }) {
  const child = spawn(file, args, {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (printed += text));
  }
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await closed;
  };
  const isUp = () => (typeof says === 'string' ? printed.includes(says) : says.test(printed));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await waitUntil(() => isUp() || hasEnded(), { withinMs });
  if (!isUp()) {
    await stop();
    throw new Error(`${[file, ...args].join(' ')} did not start:\n${lastLines(printed, 40)}`);
  }
  return { output: () => printed, stop };
}
