/** A moment as people read it: the time for today, the day for this year, else the date. */
export function formatWhen(ms: number, now = Date.now()): string {
  const moment = new Date(ms);
  const today = new Date(now);
  if (moment.toDateString() === today.toDateString()) {
    return moment.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  }
  const year = moment.getFullYear() === today.getFullYear() ? undefined : 'numeric';
  return moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric', year });
}

/** A moment as people read it, date and time. */
export function formatMoment(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
