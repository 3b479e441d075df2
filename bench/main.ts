import { createSay, runProgram } from './command.js';
import { openBench, type Take } from './bench.js';
import { formatShares, startCpuMeter } from './processes/usage.js';
import { formatTable, type Row } from './report.js';

interface Options {
  quick: boolean;
  /** Names of the measurements to take: the files in `measures/`. */
  only: readonly string[];
  waiting: number;
}

/** A measurement that hangs must not block its caller. */
const LIMIT_MS = 20 * 60_000;

/** `npm run bench`: measures real processes and prints one table. */
runProgram<Options>(async ({ only, ...options }, servers) => {
  const say = createSay();
  const stop = listenForStop();
  // A reader whose connection breaks unobserved must not end the other measurements.
  process.on('unhandledRejection', (error) => {
    process.exitCode = 1;
    say(`something failed in the background: ${String(error)}`);
  });
  say('starting worker, api and the bare worker');
  const rows: Row[] = [];
  const notes: string[] = [];
  const { bench, close } = await openBench(servers, { ...options, say });
  try {
    for (const name of only) {
      say(`${name} …`);
      const { take } = (await import(`./measures/${name}.js`)) as { take: Take };
      const readCpu = startCpuMeter(bench.pids);
      // A failed measurement is reported under the table; the others continue.
      const taking = take(bench).catch((error: unknown): Row[] => {
        process.exitCode = 1;
        notes.push(`${name} FAILED: ${error instanceof Error ? error.message : String(error)}`);
        return [];
      });
      rows.push(...(await Promise.race([taking, stop])));
      notes.push(`${name}, CPU % of a core: ${formatShares(readCpu())}`);
    }
  } finally {
    // Results before an interruption are still useful.
    if (notes.length > 0) console.log(['', formatTable(rows), '', ...notes, ''].join('\n'));
    await close();
  }
  say('done');
});

/** Rejects on a signal or when the time is up, so that children are always stopped. */
function listenForStop(): Promise<never> {
  const stop = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
    }
    setTimeout(() => reject(new Error('the time is up')), LIMIT_MS).unref();
  });
  // A race against it sees the rejection; between two races the rejection must not end the process.
  stop.catch(() => undefined);
  return stop;
}
