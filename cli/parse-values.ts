import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { wrongUsage } from './failure.js';
import type { Terminal } from './terminal.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Parses a duration such as `90s`, `1.5h` or `30d`, in ms. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 90s, 15m, 2h or 30d.');
  }
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

/** Parses an integer from 1. @throws InvalidArgumentError */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** Parses a step number; 0 means before the first step. @throws InvalidArgumentError */
export function parseStep(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be the number of a step, from 0.');
}

/** Parses a port; returns its text. @throws InvalidArgumentError */
export function parsePort(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError('It must be a port: a number from 1 to 65535.');
}

/** Parses comma-separated names. @throws InvalidArgumentError */
export function parseNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('It must be names separated by commas.');
}

/** Parses a server's URL, which may have a path. @throws InvalidArgumentError */
export function parseUrl(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new InvalidArgumentError('It must be an address: http://host:port.');
  return text.replace(/\/+$/, '');
}

/** Rejects an empty text. @throws InvalidArgumentError */
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
  terminal: Pick<Terminal, 'readAll'>,
): Promise<unknown> {
  const json = text.startsWith('@') ? await readSource(option, text.slice(1), terminal) : text;
  try {
    return JSON.parse(json);
  } catch {
    throw wrongUsage(`${option} is no JSON. A file is named with @: ${option} @input.json`);
  }
}

async function readSource(
  option: string,
  file: string,
  terminal: Pick<Terminal, 'readAll'>,
): Promise<string> {
  if (file === '-') return terminal.readAll();
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw wrongUsage(`${option}: ${file} cannot be read (${reason}).`);
  }
}

/**
 * Parses a past time, given as a duration before now or a date; the result maps `now` to ISO 8601.
 *
 * @throws InvalidArgumentError
 */
export function parseSince(text: string): (now: number) => string {
  return parseTime(text, -1, '24h');
}

/** Parses a UTC day, given as a date or a duration before now. @throws InvalidArgumentError */
export function parseDay(text: string): (now: number) => string {
  const at = parseTime(text, -1, '30d');
  return (now) => at(now).slice(0, 10);
}

/**
 * Parses a future time, given as a duration from now or a date; the result maps `now` to ISO 8601.
 *
 * @throws InvalidArgumentError
 */
export function parseFuture(text: string): (now: number) => string {
  return parseTime(text, 1, '2h');
}

function parseTime(text: string, sign: 1 | -1, such: string): (now: number) => string {
  if (DURATION.test(text)) {
    const ms = sign * parseDuration(text);
    return (now) => new Date(now + ms).toISOString();
  }
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError(`It must be a duration such as ${such}, or a date in ISO 8601.`);
  }
  return () => new Date(at).toISOString();
}
