import type { Usage } from '../../session/record.js';
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

export function toUsage(usage: RunUsage | undefined): Usage | undefined {
  return usage && (FIELDS.map((name) => usage[name] ?? 0) as unknown as Usage);
}

export function fromUsage(usage: readonly number[]): RunUsage {
  const named = FIELDS.map((name, at) => [name, usage[at] ?? 0] as const);
  return Object.fromEntries(named.filter(([, n], at) => at < 2 || n > 0)) as unknown as RunUsage;
}

export function parseUsage(text: string | undefined): RunUsage | undefined {
  return text === undefined || text === '' ? undefined : fromUsage(text.split(' ').map(Number));
}

/** Both together; undefined if neither is known. */
export function addUsage(a: RunUsage | undefined, b: RunUsage | undefined): RunUsage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return fromUsage(FIELDS.map((field) => (a[field] ?? 0) + (b[field] ?? 0)));
}
