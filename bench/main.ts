import { parseArgs } from 'node:util';
import { createSay, readServers, runProgram } from './command.js';
import { openBench, type Measurement } from './bench.js';
import { answerLatency } from './measures/answer-latency.js';
import { attachToLongTurn } from './measures/attach.js';
import { chunkLatency } from './measures/chunk-latency.js';
import { concurrentRuns } from './measures/concurrent-runs.js';
import { firstToken } from './measures/first-token.js';
import { historySize } from './measures/history-size.js';
import { longConversation } from './measures/long-conversation.js';
import { recovery } from './measures/recovery.js';
import { sseClients } from './measures/sse-clients.js';
import { stepGap } from './measures/step-gap.js';
import { stopLatency } from './measures/stop-latency.js';
import { waitingMemory } from './measures/waiting-memory.js';
import { formatShares, startCpuMeter } from './processes/usage.js';
import { formatTable, type Row } from './report.js';

interface Options {
  /** True takes few samples: enough to show that everything works, not how fast. */
  isQuick: boolean;
  /** Names of the measurements to take. */
  only: readonly string[];
  /** Number of waiting runs in the measurement of memory. */
  waiting: number;
}

const WAITING = 1_000;

/** @throws Error with one line that lists the choices */
function readOptions(args: readonly string[], names: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      waiting: { type: 'string', default: String(WAITING) },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const only = values.only.flatMap((name) => name.split(','));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`There is no measurement "${unknown}". There are: ${names.join(', ')}.`);
  }
  const waiting = Number(values.waiting);
  if (!Number.isInteger(waiting) || waiting < 1)
    throw new Error('--waiting must be a number from 1.');
  return { isQuick: values.quick, waiting, only: only.length > 0 ? only : names };
}

/** A measurement that hangs must not block its caller. */
const LIMIT_MS = 20 * 60_000;

const MEASUREMENTS: readonly Measurement[] = [
  firstToken,
  chunkLatency,
  answerLatency,
  stepGap,
  historySize,
  stopLatency,
  recovery,
  longConversation,
  concurrentRuns,
  waitingMemory,
  attachToLongTurn,
  sseClients,
];

/**
 * `npm run bench`: measures real processes and prints one table. scripts/bench.mjs builds the product, starts
 * the engines and runs this.
 */
async function main(): Promise<void> {
  const options = readOptions(
    process.argv.slice(2),
    MEASUREMENTS.map(({ name }) => name),
  );
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
  const { bench, close } = await openBench(readServers(), { ...options, say });
  try {
    for (const { name, take } of MEASUREMENTS) {
      if (!options.only.includes(name)) continue;
      say(`${name} …`);
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
}

/** Rejects on a signal or when the time is up, so that children are always stopped. */
function listenForStop(): Promise<never> {
  const stop = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        reject(new Error(`stopped by ${signal}`));
      });
    }
    setTimeout(() => {
      reject(new Error('the time is up'));
    }, LIMIT_MS).unref();
  });
  // A race against it sees the rejection; between two races the rejection must not end the process.
  stop.catch(() => undefined);
  return stop;
}

runProgram(main);
