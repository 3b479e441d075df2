import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Measurement } from '../bench.js';
import { measureFindings } from './findings/measure-findings.js';
import { LARGE_SESSIONS } from './large-sessions.js';
import { measureLarge } from './large.js';
import { startServer } from './server.js';
import { openSide, type Side } from './side.js';
import { measureSmall } from './small.js';
import { errorsOf, formatFindings, formatLarge, formatSmall, LIMIT_MS } from './tables.js';

/**
 * What each transition costs inside Redis, and whether any grows with its session. Part of
 * `npm run bench`; on its own, without Temporal, and beside another build:
 *
 *     node dist/bench/transitions/main.js [--against <dist>] [--only small,large,findings] [--quick]
 *
 * BENCH_STORES and BENCH_AGAINST name the two builds as well; the first is this one unless they say
 * otherwise.
 */
interface Options {
  dist: string;
  /** A second build, measured in turn with the first one. */
  against: string | undefined;
  only: readonly string[];
  isQuick: boolean;
}

const PARTS = ['small', 'large', 'findings'];
const OWN_DIST = fileURLToPath(new URL('../..', import.meta.url));

export const transitions: Measurement = {
  name: 'transitions',
  take: async ({ isQuick, say }) => {
    const texts = await measure({ ...builds(), only: PARTS, isQuick }, (text) => {
      say(`transitions: ${text}`);
    });
    return { rows: [], notes: texts.map((text) => `${text}\n`) };
  },
};

function builds(): Pick<Options, 'dist' | 'against'> {
  const { BENCH_STORES: dist = OWN_DIST, BENCH_AGAINST: against } = process.env;
  return { dist, against };
}

/** The tables, each as one text. */
async function measure(
  { dist, against, only, isQuick }: Options,
  say: (text: string) => void,
): Promise<string[]> {
  const server = await startServer();
  const sides: Side[] = [];
  try {
    sides.push(await openSide(resolve(dist), server.url, 'a'));
    if (against !== undefined) sides.push(await openSide(resolve(against), server.url, 'b'));
    const texts = [headOf(dist, against)];
    const samples = isQuick ? 1 : 3;
    if (only.includes('small')) {
      const options = isQuick
        ? { passes: 1, rounds: 3, sessions: 10 }
        : { passes: 4, rounds: 12, sessions: 25 };
      texts.push(formatSmall(await measureSmall(sides, options, say)));
    }
    if (only.includes('large')) {
      const rows = await measureLarge(sides, LARGE_SESSIONS, samples, say);
      const names = LARGE_SESSIONS.map(({ name }) => name);
      texts.push(formatLarge(rows, names), `! above ${String(LIMIT_MS)} ms`);
      texts.push(...errorsOf(rows.map(({ name, cells }) => ({ name, found: cells.flat() }))));
    }
    if (only.includes('findings')) {
      const rows = await measureFindings(sides, samples, say);
      texts.push(formatFindings(rows), `! above ${String(LIMIT_MS)} ms`);
      texts.push(...errorsOf(rows));
    }
    return texts;
  } finally {
    await Promise.all(sides.map(({ close }) => close()));
    await server.close();
  }
}

function headOf(dist: string, against: string | undefined): string {
  if (against === undefined) return `Transitions inside Redis, of ${dist}`;
  const ratio = 'Ratio: of the minima, the first to the second; below 1 the first is faster.';
  return `Transitions inside Redis, of ${dist}, and (') of ${against}\n${ratio}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      stores: { type: 'string' },
      against: { type: 'string' },
      only: { type: 'string', default: PARTS.join() },
      quick: { type: 'boolean', default: false },
    },
  });
  const { dist, against } = builds();
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  const only = values.only.split(',');
  const unknown = only.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}" of ${PARTS.join()}.`);
  const options = {
    dist: values.stores ?? dist,
    against: values.against ?? against,
    only,
    isQuick: values.quick,
  };
  const texts = await measure(options, (text) => {
    process.stderr.write(`${seconds()} s  ${text}\n`);
  });
  console.log(texts.join('\n\n'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
