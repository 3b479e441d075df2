const MOST_BYTES = 200;

/** What Temporal sends as it is read in a report: instants, numbers and texts, and no empty fields. Pure. */
export function toPlain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.subarray(0, MOST_BYTES)).toString();
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  if (isLong(value)) return value.toNumber();
  if ('seconds' in value && 'nanos' in value) {
    const seconds = Number(toPlain(value.seconds)) + Number(value.nanos) / 1e9;
    // A period has the same fields as an instant.
    return seconds < 1e9 ? seconds : new Date(seconds * 1_000).toISOString();
  }
  const fields = Object.entries(value).map(([name, each]) => [name, toPlain(each)] as const);
  return Object.fromEntries(fields.filter(([, each]) => !isEmpty(each)));
}

function isLong(value: object): value is { toNumber: () => number } {
  return 'toNumber' in value && typeof value.toNumber === 'function';
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
