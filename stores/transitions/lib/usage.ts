import { formatInt } from './host.js';
import { num, readField, setFields } from './root.js';
import type { Session } from './session.js';

/**
 * Usage as six whole numbers: input tokens, output tokens, cached, written to the cache, reasoning,
 * and millionths of a dollar. The last four are reported only if above 0.
 */
const NAMES = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'costMicroUsd',
];

/** No usage. */
export const NOTHING = '0 0 0 0 0 0';

/** Adds the usage of a model call or of a sub-agent to the totals of the run. */
export function addUsage(session: Session, more: string | undefined): void {
  if (more === undefined || more === '') return;
  const stored = readField(session, 'usage');
  if (stored === undefined) {
    setFields(session, ['usage', more]);
    return;
  }
  setFields(session, ['usage', sumOf(more, stored)]);
}

/** The sum of two usages; the second may be unknown. */
export function sumOf(a: string, b: string | undefined): string {
  if (b === undefined || b === '') return a;
  const before = b.split(' ');
  const sums: string[] = [];
  for (const n of a.split(' ')) sums.push(formatInt(num(n) + num(before[sums.length])));
  return sums.join(' ');
}

/** Usage as JSON; '' if unknown. */
export function usageJson(usage: string | undefined): string {
  if (usage === undefined || usage === '') return '';
  const known: string[] = [];
  let at = 0;
  for (const n of usage.split(' ')) {
    if (at < 2 || n !== '0') known.push(`"${NAMES[at] as string}":${n}`);
    at += 1;
  }
  return `{${known.join(',')}}`;
}
