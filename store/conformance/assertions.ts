import { deepStrictEqual, fail } from 'node:assert/strict';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';

/** Asserts that contents are equal; an undefined field counts as absent. */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  deepStrictEqual(toPlain(actual), toPlain(expected), message);
}

/** Asserts that everything in `expected` is present; arrays must have the same length. */
export function includes(actual: unknown, expected: unknown): void {
  deepStrictEqual(project(actual, expected), toPlain(expected));
}

/** Asserts a typed refusal. */
export async function refuses(work: Promise<unknown>, code: ErrorCode): Promise<HelixError> {
  const outcome = await work.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) fail(`expected ${code}, but it was accepted`);
  if (!HelixError.isInstance(outcome.error)) throw outcome.error;
  deepStrictEqual(outcome.error.code, code);
  return outcome.error;
}

/** Rebuilds every value here: test frameworks load modules into realms with other prototypes. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, toPlain);
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(present.map(([key, field]) => [key, toPlain(field)]));
}

/** Returns the part of `actual` that `expected` mentions. */
function project(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return Array.from(actual, (item: unknown, at) =>
      at < expected.length ? project(item, expected[at]) : item,
    );
  }
  if (!isObject(actual) || !isObject(expected)) return toPlain(actual);
  const wanted = Object.entries(expected).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    wanted.flatMap(([key, field]) =>
      actual[key] === undefined ? [] : [[key, project(actual[key], field)]],
    ),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a list by pages of two; no page may have more. */
export async function readPages<Item>(
  read: (page: { limit: number; cursor?: string }) => Promise<[Item[], cursor?: string]>,
): Promise<Item[]> {
  const all: Item[] = [];
  const limit = 2;
  let cursor: string | undefined;
  do {
    const page = await read({ limit, cursor });
    if (page[0].length > limit) fail('a page has more than was asked for');
    all.push(...page[0]);
    cursor = page[1];
  } while (cursor !== undefined);
  return all;
}

const PAUSE_MS = { min: 5, max: 50 };

/**
 * Asks repeatedly until the answer is neither undefined nor false. Pauses for longer than a question takes, since the
 * asked side has other work to do.
 *
 * @throws Error that names the missing event
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | false | undefined> | T | false | undefined,
  withinMs = 60_000,
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const asked = performance.now();
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > giveUpAt)
      throw new Error(`did not happen within ${String(withinMs)} ms: ${what}`);
    const pause = 4 * (performance.now() - asked);
    const between = Math.min(Math.max(pause, PAUSE_MS.min), PAUSE_MS.max);
    await new Promise((resolve) => setTimeout(resolve, between));
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Waits for the next day, UTC, if this one ends within seconds: usage and budgets are counted by day. */
export async function untilDayLasts(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < 4_000) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
