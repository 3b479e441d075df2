export const TIME_FORMATS = ['relative', 'iso', 'raw'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * A moment in a table.
 *
 * @param at ms since the epoch; nothing is shown as `-`
 */
export function shownTime(at: number | undefined, format: TimeFormat, now: number): string {
  if (at === undefined) return '-';
  if (format === 'raw') return String(at);
  if (format === 'iso') return new Date(at).toISOString();
  const distance = shownDuration(Math.abs(now - at));
  return at > now ? `in ${distance}` : `${distance} ago`;
}

/** A duration in its two largest units, such as `2h 5m`. */
export function shownDuration(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const unit = UNITS[first];
  if (unit === undefined) return `${String(Math.round(ms))}ms`;
  const [name, size] = unit;
  const count = Math.floor(ms / size);
  const [smaller, smallerSize] = UNITS[first + 1] ?? [];
  const rest = smallerSize === undefined ? 0 : Math.floor((ms - count * size) / smallerSize);
  return `${String(count)}${name}${rest > 0 && smaller ? ` ${String(rest)}${smaller}` : ''}`;
}
