import { stripVTControlCharacters } from 'node:util';
import { wrongUsage } from '../failure.js';
import type { Terminal } from '../terminal.js';
import { shownJson, shownText, shownTime, type TimeFormat } from './shown-text.js';

/** `text` is the `temporal` command line's name for a table. */
export const OUTPUT_FORMATS = ['table', 'text', 'json', 'jsonl', 'csv', 'none'] as const;

export interface OutputOptions {
  output: (typeof OUTPUT_FORMATS)[number];
  /** Fields named by `--json`, which overrides `output`. */
  json?: string[];
  timeFormat: TimeFormat;
}

export interface Kind<T> {
  /** Fields that `--json` accepts. */
  fields: readonly (keyof T & string)[];
  columns: Record<string, (item: T, shown: Shown) => string | number | undefined>;
  styles?: Record<string, (item: T) => Style | undefined>;
  /** Text shown instead of an empty table. */
  none: string;
}

type Style = Parameters<Terminal['style']>[0];

export interface Shown {
  time: (at: number | undefined) => string;
}

export interface Output {
  /** Prints a list; `jsonl` prints each line as it is read. @throws CliFailure for an unknown field */
  list: <T extends object>(kind: Kind<T>, items: AsyncIterable<T> | Iterable<T>) => Promise<void>;
  /** Prints an item, columns below each other, then `below`. @throws CliFailure for an unknown field */
  one: <T extends object>(kind: Kind<T>, item: T, below?: string) => Promise<void>;
  /** Prints a value that has a text form of its own. */
  text: (value: object, text: () => string) => Promise<void>;
  draw: <T>(kind: Kind<T>, items: readonly T[]) => string;
}

/** @param now ms since the epoch, for times in tables */
export function createOutput(
  { terminal, now }: { terminal: Terminal; now: () => number },
  options: OutputOptions,
): Output {
  const { json, timeFormat } = options;
  const chosen = options.output === 'text' ? 'table' : options.output;
  const format = json !== undefined && chosen === 'table' ? 'json' : chosen;
  const shown: Shown = { time: (at) => shownTime(at, timeFormat, now()) };

  function cellsOf<T>({ columns, styles = {} }: Kind<T>, item: T): string[] {
    return Object.entries(columns).map(([title, show]) => {
      const text = shownText(String(show(item, shown) ?? '-'));
      const style = styles[title]?.(item);
      return style === undefined ? text : terminal.style(style, text);
    });
  }

  const titlesOf = <T>({ columns }: Kind<T>): string[] =>
    Object.keys(columns).map((title) => terminal.style('bold', title));

  function printJson(value: unknown): void {
    if (format === 'json') terminal.print(shownJson(value, 2));
    if (format === 'jsonl') terminal.print(shownJson(value));
  }

  function printCsv<T extends object>({ fields }: Kind<T>, items: readonly Partial<T>[]): void {
    const names = fields.filter((name) => json === undefined || json.includes(name));
    terminal.print(csvLine(names));
    for (const item of items) terminal.print(csvLine(names.map((name) => item[name])));
  }

  const draw: Output['draw'] = (kind, items) =>
    drawTable([titlesOf(kind), ...items.map((item) => cellsOf(kind, item))]);

  return {
    draw,
    list: async <Item extends object>(
      kind: Kind<Item>,
      items: AsyncIterable<Item> | Iterable<Item>,
    ) => {
      const picked = picker(kind, json);
      const all: Item[] = [];
      for await (const item of items) {
        if (format === 'jsonl') printJson(picked(item));
        else all.push(item);
      }
      if (format === 'json') printJson(all.map(picked));
      if (format === 'csv') printCsv(kind, all.map(picked));
      if (format !== 'table') return;
      if (all.length === 0) terminal.note(kind.none);
      else terminal.print(draw(kind, all));
    },
    one: async (kind, item, below) => {
      const picked = picker(kind, json)(item);
      printJson(picked);
      if (format === 'csv') printCsv(kind, [picked]);
      if (format !== 'table') return;
      const cells = cellsOf(kind, item);
      terminal.print(drawTable(titlesOf(kind).map((title, n) => [title, cells[n] ?? ''])));
      if (below !== undefined) terminal.print(below);
    },
    text: async (value, text) => {
      if (format === 'csv') throw wrongUsage('This has no rows for csv; json has it all.');
      printJson(value);
      if (format === 'table') terminal.print(text());
    },
  };
}

/** Returns a function that picks the fields of `--json`, or the whole item without it. */
function picker<T extends object>(
  { fields }: Pick<Kind<T>, 'fields'>,
  names: string[] | undefined,
): (item: T) => object {
  if (names === undefined) return (item) => item;
  const known: readonly string[] = fields;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw wrongUsage(`--json: there is no ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  }
  return (item) =>
    Object.fromEntries(
      names.map((name) => [name, (item as Record<string, unknown>)[name] ?? null]),
    );
}

/** Spreadsheets take a text with this start for a formula. */
const FORMULA = /^[=+\-@]/;

/** Formats a CSV line (RFC 4180). Strangers may have written the texts, so formulas are escaped. */
export function csvLine(values: readonly unknown[]): string {
  return values.map(toCell).join(',');
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const shown = shownText(typeof value === 'string' ? value : JSON.stringify(value));
  const text = FORMULA.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Characters that take two columns in a terminal. */
const WIDE =
  /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/gu;
/** Zero-width characters: marks, joiners and variation selectors. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** Aligns rows in columns two spaces apart, for people and for `awk`; cells may contain colours. */
export function drawTable(rows: readonly string[][]): string {
  const widths: number[] = [];
  for (const [at, cell] of rows.flatMap((row) => [...row.entries()])) {
    widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  const pad = (cell: string, at: number) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell));
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

function widthOf(cell: string): number {
  const text = stripVTControlCharacters(cell).replace(NARROW, '');
  return Array.from(text).length + (text.match(WIDE)?.length ?? 0);
}
