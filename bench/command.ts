import type { Servers } from './processes/product.js';

/** Reports progress on stderr, because stdout has the result. */
export type Say = (text: string) => void;

/** @param keep also gets each line */
export function createSay(keep: (line: string) => void = () => undefined): Say {
  const startedAt = Date.now();
  return (text) => {
    const seconds = String(Math.round((Date.now() - startedAt) / 1000)).padStart(5);
    const line = `${seconds} s  ${text}\n`;
    process.stderr.write(line);
    keep(line);
  };
}

/**
 * Reads a variable that scripts/bench.mjs sets.
 * @throws Error if the program was started without it
 */
export function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start this by its npm script.`);
  return value;
}

/** Reads the addresses of the engines that scripts/bench.mjs has started. */
export function readServers(): Servers {
  return {
    redisUrl: readVariable('TEST_REDIS_URL'),
    temporalAddress: readVariable('TEST_TEMPORAL_ADDRESS'),
  };
}

/** Ends the process with the program, even if handles are open; `process.exitCode` is the result. */
export function runProgram(main: () => Promise<void>): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
      process.exit(2);
    },
  );
}
