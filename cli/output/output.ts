import { wrongUsage } from '../failure.js';
import type { Terminal } from '../terminal.js';
import { shownJson, shownText, shownTime, type TimeFormat } from './shown-text.js';

/** `text` is the `temporal` command line's name for a table. */
export const OUTPUT_FORMATS = ['table', 'text', 'json', 'jsonl', 'csv', 'none'] as const;

/** Global output options. */
export interface OutputOptions {
  output: (typeof OUTPUT_FORMATS)[number];
  /** Fields named by `--json`, which overrides `output`. */
  json?: string[];
  timeFormat: TimeFormat;
}

/** Display of one kind of item. */
export interface Kind<T> {
  /** Fields that `--json` accepts. */
  fields: readonly (keyof T & string)[];
  columns: readonly Column<T>[];
  /** Text shown instead of an empty table. */
  none: string;
}

export interface Column<T> {
  title: string;
  show: (item: T, shown: Shown) => string | number | undefined;
  style?: (item: T) => Style | undefined;
}

type Style = Parameters<Terminal['style']>[0];

/** Formatters for table cells. */
export interface Shown {
  time: (at: number | undefined) => string;
}

export interface Output {
  /**
   * Prints a list; `jsonl` prints each line as it is read.
   * @throws CliFailure for an unknown field
   */
  list: <T extends object>(kind: Kind<T>, items: AsyncIterable<T> | Iterable<T>) => Promise<void>;
  /**
   * Prints one item: its columns below each other; a table is followed by `below`.
   *
   * @throws CliFailure for an unknown field
   */
  one: <T extends object>(kind: Kind<T>, item: T, below?: string) => Promise<void>;
  /** Prints a value that has a text form of its own. */
  text: (value: object, text: () => string | Promise<string>) => Promise<void>;
  /** Returns the table of a list. */
  draw: <T>(kind: Kind<T>, items: readonly T[]) => Promise<string>;
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

  function cellsOf<T>({ columns }: Kind<T>, item: T): string[] {
    return columns.map(({ show, style: styleOf }) => {
      const text = shownText(String(show(item, shown) ?? '-'));
      const style = styleOf?.(item);
      return style === undefined ? text : terminal.style(style, text);
    });
  }

  const titlesOf = <T>({ columns }: Kind<T>): string[] =>
    columns.map(({ title }) => terminal.style('bold', title));

  function printJson(value: unknown): void {
    if (format === 'json') terminal.print(shownJson(value, 2));
    if (format === 'jsonl') terminal.print(shownJson(value));
  }

  function printCsv<T extends object>({ fields }: Kind<T>, items: readonly Partial<T>[]): void {
    const names = fields.filter((name) => json === undefined || json.includes(name));
    terminal.print(csvLine(names));
    for (const item of items) terminal.print(csvLine(names.map((name) => item[name])));
  }

  const draw: Output['draw'] = async (kind, items) => {
    const { drawTable } = await import('./draw-table.js');
    const rows = items.map((item) => cellsOf(kind, item));
    return drawTable(titlesOf(kind), rows);
  };

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
      else terminal.print(await draw(kind, all));
    },
    one: async (kind, item, below) => {
      const picked = picker(kind, json)(item);
      printJson(picked);
      if (format === 'csv') printCsv(kind, [picked]);
      if (format !== 'table') return;
      const { drawTable } = await import('./draw-table.js');
      const titles = titlesOf(kind);
      const cells = cellsOf(kind, item);
      terminal.print(
        drawTable(
          undefined,
          titles.map((title, n) => [title, cells[n] ?? '']),
        ),
      );
      if (below !== undefined) terminal.print(below);
    },
    text: async (value, text) => {
      if (format === 'csv') throw wrongUsage('This has no rows for csv; json has it all.');
      printJson(value);
      if (format === 'table') terminal.print(await text());
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
