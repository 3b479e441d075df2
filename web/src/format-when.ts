const HALF_DAY_MS = 43_200_000;

/** Formats a time: less than half a day away as the time of day, in this year as the day, else as the date. */
export function formatWhen(ms: number, now = Date.now()): string {
  const moment = new Date(ms);
  if (Math.abs(ms - now) < HALF_DAY_MS) {
    return moment.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  }
  const year = moment.getFullYear() === new Date(now).getFullYear() ? undefined : 'numeric';
  return moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric', year });
}

export function formatMoment(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a duration in its two largest units: `0.4 s`, `12 s`, `3 min 5 s`, `2 h`, `4 d 3 h`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  let rest = Math.round(seconds);
  const largest = UNITS.findIndex(([, size]) => rest >= size);
  const parts = UNITS.slice(largest, largest + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count === 0 ? '' : `${String(count)} ${unit}`;
  });
  return parts.join(' ').trim();
}
