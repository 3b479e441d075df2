/** Formats a time: the time of day for today, the day for this year, else the date. */
export function formatWhen(ms: number, now = Date.now()): string {
  const moment = new Date(ms);
  const today = new Date(now);
  if (moment.toDateString() === today.toDateString()) {
    return moment.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  }
  const year = moment.getFullYear() === today.getFullYear() ? undefined : 'numeric';
  return moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric', year });
}

export function formatMoment(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Formats a duration: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${String(Math.round(seconds))} s`;
  const [minutes, rest] = split(Math.round(seconds), 60);
  if (minutes < 60) return join([minutes, 'min'], [rest, 's']);
  const [hours, left] = split(minutes, 60);
  if (hours < 24) return join([hours, 'h'], [left, 'min']);
  const [days, over] = split(hours, 24);
  return join([days, 'd'], [over, 'h']);
}

function split(value: number, by: number): [whole: number, rest: number] {
  return [Math.floor(value / by), value % by];
}

function join(...parts: [count: number, unit: string][]): string {
  return parts
    .flatMap(([count, unit]) => (count === 0 ? [] : `${String(count)} ${unit}`))
    .join(' ');
}
