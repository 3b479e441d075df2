import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startProgram, type ProgramOptions } from '../../support/program.js';

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
 * @throws Error with the output if the program ends early or is late
 */
export async function startGroup(
  file: string,
  args: string[],
  { says, ...options }: ProgramOptions & { says: string | RegExp },
): Promise<ProgramGroup> {
  const program = startProgram(file, args, { ...options, isGroup: true });
  const stop = async (): Promise<void> => {
    program.kill();
    await program.ended;
  };
  const isSaid = (lines: string): boolean =>
    typeof says === 'string' ? lines.includes(says) : says.test(lines);
  try {
    await program.prints(String(says), isSaid, WITHIN_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: program.output, stop };
}

/** Returns ids of processes whose command line ends with this text. */
export async function findProcesses(commandEnd: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-eo', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.trimEnd().endsWith(commandEnd))
    .map((line) => parseInt(line));
}
