import type { Contents, Database, Stored, ValueType } from './database.js';
import { formatNumber } from './numbers.js';
import { inOrder } from './sets.js';
import { formatId } from './stream.js';

/** The part of a value that counts; undefined leaves the key out. */
export type Projection = (key: string, value: unknown, type: ValueType) => unknown;

export interface DumpedValue {
  type: ValueType;
  value: unknown;
  expires: boolean;
}

/** A value as JSON data; unordered content is sorted. */
const PLAIN: { readonly [T in ValueType]: (content: Contents[T]) => unknown } = {
  string: (text) => text,
  list: (elements) => elements.slice(),
  set: (members) => [...members].sort(),
  zset: (scores) => inOrder(scores).map(([member, score]) => [member, formatNumber(score)]),
  hash: (fields) => [...fields.keys()].sort().map((field) => [field, fields.get(field)]),
  stream: ({ entries, lastId }) => ({
    lastId: formatId(lastId),
    entries: entries.map(({ id, fields }) => [formatId(id), fields.slice()]),
  }),
};

function plainOf<T extends ValueType>({ type, content }: Stored<T>): unknown {
  return PLAIN[type](content);
}

export function dumpOf(db: Database): Record<string, DumpedValue> {
  const dumped = db.sorted().map(([key, stored]): [string, DumpedValue] => {
    const expires = db.expiryOf(key) !== undefined;
    return [key, { type: stored.type, value: plainOf(stored), expires }];
  });
  // fromEntries() creates own properties, also for a key like __proto__.
  return Object.fromEntries(dumped);
}

export function fingerprintOf(db: Database, project?: Projection): string {
  let fingerprint = '';
  for (const [key, stored] of db.sorted()) {
    const text = printOf(key, stored, project);
    if (text === undefined) continue;
    // The texts are JSON, so the separators cannot occur in them.
    fingerprint += db.expiryOf(key) === undefined ? `${text}\n` : `${text} expires\n`;
  }
  return fingerprint;
}

function printOf(key: string, stored: Stored, project?: Projection): string | undefined {
  const { print } = stored;
  if (print?.key === key && print.project === project) return print.text;
  const plain = plainOf(stored);
  const value = project === undefined ? plain : project(key, plain, stored.type);
  const text = value === undefined ? undefined : JSON.stringify([key, stored.type, value]);
  stored.print = { key, project, text };
  return text;
}
