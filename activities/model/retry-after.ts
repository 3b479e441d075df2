/** `retry-after-ms`, or `retry-after` in seconds or as a date; ms from now. */
export function parseRetryAfter(
  headers: Record<string, string> | undefined,
  now: number,
): number | undefined {
  const ms = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers?.['retry-after'];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
