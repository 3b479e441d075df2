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

/**
 * Runs a program with the options that scripts/bench.mjs has read, on the engines that it has started. Ends the
 * process with it, even if handles are open; `process.exitCode` is the result.
 */
export function runProgram<O>(main: (options: O, servers: Servers) => Promise<void>): void {
  const servers = {
    redisUrl: readVariable('TEST_REDIS_URL'),
    temporalAddress: readVariable('TEST_TEMPORAL_ADDRESS'),
  };
  main(JSON.parse(process.argv[2] ?? '{}') as O, servers).then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
      process.exit(2);
    },
  );
}
