import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const WITHIN_MS = 120_000;

export interface ProgramGroup {
  /** Output so far. */
  output: () => string;
  /** Ends the whole group; resolves when it has ended. */
  stop: () => Promise<void>;
}

/**
 * Starts a program in its own process group, since not every program ends the programs that it
 * started. Resolves when it has printed the text.
 *
 * @throws Error with the last output if the program ends early or is late
 */
export async function startGroup(
  file: string,
  args: string[],
  { says, ...options }: SpawnOptions & { says: string | RegExp },
): Promise<ProgramGroup> {
  const child = spawn(file, args, {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // The close is awaited even if the program could not start.
  const closed = once(child, 'close').catch(() => undefined);
  let printed = '';
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await closed;
  };
  const isUp = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
    }, WITHIN_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const isSaid = typeof says === 'string' ? printed.includes(says) : says.test(printed);
        if (isSaid) resolve(true);
      });
    }
    void closed.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
  if (isUp) return { output: () => printed, stop };
  await stop();
  const end = printed.trimEnd().split('\n').slice(-40).join('\n');
  throw new Error(`${[file, ...args].join(' ')} did not start:\n${end}`);
}

/** Returns ids of processes whose command line ends with this text. */
export async function findProcesses(commandEnd: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-eo', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.trimEnd().endsWith(commandEnd))
    .map((line) => parseInt(line));
}
