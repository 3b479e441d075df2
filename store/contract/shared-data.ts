import { ConfigurationError } from '../../protocol/errors.js';
import type { StreamLog } from './log.js';
import type { Store } from './store.js';

/** Identifies the data that a part works on. Parts by other authors lack it and are not compared. */
const DATA = Symbol.for('helix.data');

/** Lets a part without data of its own take another part's. Returns true if it did. */
const JOIN = Symbol.for('helix.join');

interface Part {
  readonly [DATA]?: unknown;
  readonly [JOIN]?: (data: unknown) => boolean;
}

/** Marks a part with its data; copies keep the mark. `join`: lets the part take other data. */
export function onData<T extends object>(
  part: T,
  data: unknown,
  join?: (data: unknown) => boolean,
): T {
  return Object.assign(part, { [DATA]: data, [JOIN]: join });
}

export function dataOf(part: object): unknown {
  return (part as Part)[DATA];
}

/**
 * Ensures that separately passed parts work on the same data, since a run would wait endlessly for one that writes
 * where nobody reads. Joins parts that can be joined.
 *
 * @throws ConfigurationError if they work on different data
 */
export function joinParts(...parts: readonly object[]): void {
  let data: unknown;
  for (const { [DATA]: own, [JOIN]: join } of parts as readonly Part[]) {
    data ??= own;
    if (own === undefined || own === data || join?.(data) === true) continue;
    throw new ConfigurationError(
      `The stores do not belong together: one works on ${nameOf(data)}, another on ${nameOf(own)}. ` +
        'Pass the store and the stream manager that were made for the same data, here and to the executor.',
    );
  }
}

function nameOf(data: unknown): string {
  return typeof data === 'string' ? data : 'data in memory of its own';
}

/** Members of every store; `leases` is optional. */
const STORE: Record<Exclude<keyof Store, 'leases'>, true> = {
  listening: true,
  sessions: true,
  runs: true,
  steps: true,
  calls: true,
  queue: true,
  documents: true,
  checkpoints: true,
  staging: true,
  waiting: true,
  due: true,
  owners: true,
  audit: true,
  erasures: true,
  usage: true,
  pauses: true,
  requests: true,
  files: true,
};

const LOG: Record<keyof StreamLog, true> = {
  openWriter: true,
  closeWriter: true,
  append: true,
  read: true,
  keptPages: true,
  follow: true,
  inspect: true,
  mark: true,
  truncate: true,
  onStop: true,
};

/** Checks that both stores are complete and on the same data. @throws ConfigurationError that names what is missing */
export function joinStores({
  store,
  streamManager,
}: {
  store: object;
  streamManager: object;
}): void {
  requireParts('store', store, Object.keys(STORE));
  requireParts('stream manager', streamManager, Object.keys(LOG));
  joinParts(store, streamManager);
}

/** Checks a part for authors of plain JavaScript. @throws ConfigurationError that names what is missing */
export function requireParts(what: string, of: object, names: readonly string[]): void {
  const missing = names.filter((name) => (of as Record<string, unknown>)[name] === undefined);
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `The ${what} has no ${missing.join(', ')}. Its contract demands them; \`storeConformance\` tests a store of your own.`,
  );
}
