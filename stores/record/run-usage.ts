import type { RunUsage } from '../contract/runs.js';

/** Names of the numbers, in the order in which they are stored. */
const FIELDS = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'costMicroUsd',
] as const satisfies (keyof RunUsage)[];

export function parseUsage(text: string | undefined): RunUsage | undefined {
  if (text === undefined || text === '') return undefined;
  const numbers = text.split(' ').map(Number);
  return fromNumbers(numbers);
}

/** Both together; undefined if neither is known. */
export function addUsage(a: RunUsage | undefined, b: RunUsage | undefined): RunUsage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return fromNumbers(FIELDS.map((field) => (a[field] ?? 0) + (b[field] ?? 0)));
}

function fromNumbers(numbers: readonly number[]): RunUsage {
  const [inputTokens = 0, outputTokens = 0] = numbers;
  const parts = FIELDS.slice(2).map((field, at) => [field, numbers[at + 2] ?? 0] as const);
  return {
    inputTokens,
    outputTokens,
    ...(Object.fromEntries(parts.filter(([, n]) => n > 0)) as Partial<RunUsage>),
  };
}
