import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CellName, Figure, Figures, Streams } from './measure-contender.js';

type Versions = Readonly<Record<string, string>>;

/** Formats the figures as a Markdown table: a row per measurement, a column per contender. */
export function toMarkdown(all: readonly Figures[], versions: Versions): string {
  const reasons: string[] = [];
  const footnote = (text: string): string => {
    if (!reasons.includes(text)) reasons.push(text);
    return `–<sup>${String(reasons.indexOf(text) + 1)}</sup>`;
  };
  const show = <T>(figure: Figure<T> | undefined, format: (value: T) => string): string => {
    if (figure === undefined) return 'not measured';
    return 'missing' in figure ? footnote(figure.missing) : format(figure.value);
  };
  const cell = (name: CellName, format: (value: Streams) => string) =>
    all.map(({ cells }) => show(cells[name], format));
  const rows: string[][] = [
    ['', ...all.map(({ contender }) => withNote(contender))],
    ['---', ...all.map(() => '---:')],
    ['one reply × 50 words/s, p50 / p99 ms', ...cell('1 × 1', toLatency)],
    ['50 replies', ...cell('50 × 1', toLatency)],
    ['200 replies', ...cell('200 × 1', toLatency)],
    ['one reply to 25 readers', ...cell('1 × 25', toLatency)],
    [
      'CPU per word at 50 replies, µs: own + engines',
      ...cell('50 × 1', ({ cpuPerWord }) => toShares(cpuPerWord)),
    ],
    ['step to step with a tool, p50 / p99 ms', ...all.map(({ stepGap }) => show(stepGap, toPair))],
    [
      'five-step turn with four tools: CPU ms, own + engines',
      ...all.map(({ cost }) => show(cost, ({ cpu }) => toShares(cpu))),
    ],
    [
      'its history: events / bytes',
      ...all.map(({ cost }) =>
        show(cost, ({ history }) => `${String(history.events)} / ${String(history.bytes)}`),
      ),
    ],
    [
      '`kill -9` in the middle of a reply of 200 words: lost / shown twice',
      ...all.map(({ resumed }) =>
        show(resumed, ({ lost, doubled }) => `${String(lost)} / ${String(doubled)}`),
      ),
    ],
    [
      'then the next new word after',
      ...all.map(({ resumed }) => show(resumed, ({ nextWordMs }) => toSeconds(nextWordMs))),
    ],
  ];
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return [
    ...lines,
    '',
    ...reasons.map((reason, index) => `<sup>${String(index + 1)}</sup> ${reason}.  `),
    toSource(versions),
  ].join('\n');

  function withNote({ name, note }: Figures['contender']): string {
    if (note === undefined) return name;
    return `${name}${footnote(note).replace('–', '')}`;
  }
}

function toSource(versions: Versions): string {
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const day = new Date().toISOString().slice(0, 10);
  return `Measured on ${day} by \`npm run bench:peers\` on one machine: ${used.join(', ')}.`;
}

function toLatency({ latency, begun, arrived }: Streams): string {
  if (begun === 0 || Number.isNaN(latency.p50)) return 'no word arrived';
  // Missing words are late or held up in a slow process.
  const share =
    arrived < 0.95 ? ` (${String(Math.round(arrived * 100))} % of the words in time)` : '';
  return `${toPair(latency)}${share}`;
}

/** Lists the CPU of own processes, then of the engines. */
function toShares(cpu: Record<string, number>): string {
  const { redis = 0, temporal = 0, ...own } = cpu;
  const sum = Object.values(own).reduce((total, each) => total + each, 0);
  return `${toFigure(sum, 1)} + ${toFigure(redis + temporal, 1)}`;
}

function toPair({ p50, p99 }: { p50: number; p99: number }): string {
  return `${toFigure(p50)} / ${toFigure(p99)}`;
}

function toFigure(value: number, digits = 2): string {
  return value >= 10 ? String(Math.round(value)) : value.toFixed(digits);
}

function toSeconds(ms: number): string {
  return Number.isNaN(ms) ? 'never' : `${(ms / 1_000).toFixed(1)} s`;
}

/** Packages by which readers know the peers. */
const NAMED = [
  'resumable-stream',
  '@durable-streams/server',
  '@temporalio/workflow-streams',
  '@temporalio/ai-sdk',
  'workflow',
];

/** Reads the installed versions of the peers. */
export function readVersions(peersFolder: string): Record<string, string> {
  // A lock that an interrupted installation left has no manifest.
  const manifests = readdirSync(peersFolder)
    .map((name) => join(peersFolder, name, 'package.json'))
    .filter((file) => existsSync(file));
  const pinned = manifests.map((file) => {
    const text = readFileSync(file, 'utf8');
    return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies;
  });
  const all = Object.assign({}, ...pinned) as Record<string, string>;
  return Object.fromEntries(NAMED.map((name) => [name, all[name] ?? 'unknown']));
}

const BEGIN = '<!-- peers: written by npm run bench:peers -- --write -->';
const END = '<!-- /peers -->';

/**
 * Puts a table between its marks in a file of the project.
 *
 * @param path from the project's root
 * @throws Error if the marks are missing
 */
export function writeTable(path: string, table: string): void {
  // From dist/bench/peers to the project.
  const file = new URL(`../../../${path}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no marks ${BEGIN} … ${END}.`);
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n${table}\n${text.slice(end)}`);
}
