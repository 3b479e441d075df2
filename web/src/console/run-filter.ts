/** Filters of runs as the address has them. */
export type RunSettings = Readonly<Record<string, string>>;

/** Ages that can be chosen: started within, or before, so many ms. */
export const AGES = [
  { name: 'hour', label: 'the last hour', ms: 3_600_000 },
  { name: 'day', label: 'the last 24 hours', ms: 86_400_000 },
  { name: 'week', label: 'the last 7 days', ms: 7 * 86_400_000 },
  { name: 'older-hour', label: 'more than an hour ago', ms: 3_600_000, isOlder: true },
  { name: 'older-day', label: 'more than a day ago', ms: 86_400_000, isOlder: true },
] as const;

/** The filter as the API takes it. Pure. */
export function toRunFilter(settings: RunSettings, now: number): Record<string, string> {
  const { status = '', agent = '', owner = '', query = '', age = '' } = settings;
  const chosen = AGES.find(({ name }) => name === age);
  const at = chosen === undefined ? '' : new Date(now - chosen.ms).toISOString();
  const isOlder = chosen !== undefined && 'isOlder' in chosen;
  const filter = {
    status,
    agent,
    owner,
    query,
    since: isOlder ? '' : at,
    before: isOlder ? at : '',
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
}

export function isEmptyFilter(settings: RunSettings): boolean {
  return Object.keys(toRunFilter(settings, 0)).length === 0;
}
