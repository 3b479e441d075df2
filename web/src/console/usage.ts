import type { UsageRow } from '../../../protocol/usage.js';

const MICRO = 1_000_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const usual = (value: number): string => value.toLocaleString();

/** What a chart can show of each group. */
export const MEASURES = {
  runs: { label: 'Runs', of: ({ runs }: UsageRow) => runs, format: usual },
  tokens: {
    label: 'Tokens',
    of: ({ inputTokens, outputTokens }: UsageRow) => inputTokens + outputTokens,
    format: usual,
  },
  cost: {
    label: 'Cost',
    of: ({ costMicroUsd = 0 }: UsageRow) => costMicroUsd / MICRO,
    format: (value: number) => `$${value.toFixed(2)}`,
  },
} as const;
export type Measure = keyof typeof MEASURES;

/** Days that an address names; the last 30 days where it names none. Pure. */
export function toRange(
  { since = '', until = '' }: Readonly<Record<string, string>>,
  now: Date,
): { since: string; until: string } {
  const last = DAY.test(until) ? until : now.toISOString().slice(0, 10);
  const first = new Date(`${last}T00:00:00Z`);
  first.setUTCDate(first.getUTCDate() - 29);
  return { since: DAY.test(since) ? since : first.toISOString().slice(0, 10), until: last };
}

export function groupLabel(value: string | undefined): string {
  return value === undefined || value === '' ? 'no answer of a model' : value;
}
