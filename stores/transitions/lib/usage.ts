import { formatInt } from './host.js';
import { num } from './request.js';

/** The sum of two usages; the second may be unknown. */
export function sumOf(a: string, b: string | undefined): string {
  if (b === undefined || b === '') return a;
  const before = b.split(' ');
  const sums: string[] = [];
  for (const n of a.split(' ')) sums.push(formatInt(num(n) + num(before[sums.length])));
  return sums.join(' ');
}
