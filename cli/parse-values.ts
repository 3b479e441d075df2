import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { wrongUsage } from './failure.js';
import type { Terminal } from './terminal.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A hundred years: every moment so far from now is a date. */
const MAX_MS = 36_500 * UNITS.d;

/** Parses a duration such as `90s`, `1.5h` or `30d`, in ms. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const ms = Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
  if (ms <= MAX_MS) return ms;
  throw new InvalidArgumentError(
    'It must be a duration such as 90s, 15m, 2h or 30d, at most 36500d.',
  );
}

function wholeNumber(min: number, max: number, what: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be ${what}.`);
  };
}

export const parseCount = wholeNumber(1, 999_999_999, 'a whole number from 1');
/** 0 means before the first step. */
export const parseStep = wholeNumber(0, 999_999, 'the number of a step, from 0');
export const parsePort = wholeNumber(1, 65_535, 'a port: a number from 1 to 65535');

export function parseNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('It must be names separated by commas.');
}

/** Parses a server's URL, which may have a path. @throws InvalidArgumentError */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `fetch` refuses an address with credentials, and its error quotes them.
  const isUsable = /^https?:$/.test(url?.protocol ?? '') && !url?.username && !url?.password;
  if (!isUsable)
    throw new InvalidArgumentError('It must be an address without credentials: http://host:port.');
  return text.replace(/\/+$/, '');
}

export function parseText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/**
 * Reads a JSON value: the text itself, `@file`, or `@-` for stdin.
 *
 * @param option name used in the error
 * @throws CliFailure if the value cannot be read or is not JSON
 */
export async function readJson(
  option: string,
  text: string,
  { readAll }: Pick<Terminal, 'readAll'>,
): Promise<unknown> {
  const file = text.startsWith('@') ? text.slice(1) : undefined;
  let json = text;
  if (file === '-') json = await readAll();
  else if (file !== undefined) {
    json = await readFile(file, 'utf8').catch((error: unknown) => {
      const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
      throw wrongUsage(`${option}: ${file} cannot be read (${reason}).`);
    });
  }
  try {
    return JSON.parse(json);
  } catch {
    throw wrongUsage(`${option} is no JSON. A file is named with @: ${option} @input.json`);
  }
}

function isDate(day: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN;
  // `Date` turns the 31st of November into the 1st of December.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** Makes a parser of a duration before or after now, or a date; its result maps `now` to ISO 8601. */
function timeParser(sign: 1 | -1, such: string): (text: string) => (now: number) => string {
  return (text) => {
    if (DURATION.test(text)) {
      const ms = sign * parseDuration(text);
      return (now) => new Date(now + ms).toISOString();
    }
    const at = isDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return () => new Date(at).toISOString();
    throw new InvalidArgumentError(`It must be a duration such as ${such}, or a date in ISO 8601.`);
  };
}

export const parseSince = timeParser(-1, '24h');
export const parseFuture = timeParser(1, '2h');
const parsePastDay = timeParser(-1, '30d');

/** Parses a UTC day, given as a date or a duration before now. @throws InvalidArgumentError */
export function parseDay(text: string): (now: number) => string {
  const at = parsePastDay(text);
  return (now) => at(now).slice(0, 10);
}
