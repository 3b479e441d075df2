import type { Database, Stored } from './database.js';
import { PLAIN, type Contents, type ValueType } from './values.js';

/** What counts of a value; what is undefined leaves the key out. */
export type Projection = (key: string, value: unknown, type: ValueType) => unknown;

export interface DumpedValue {
  type: ValueType;
  value: unknown;
  expires: boolean;
}

function plainOf<T extends ValueType>({ type, content }: Stored<T>): unknown {
  const toPlain: (content: Contents[T]) => unknown = PLAIN[type];
  return toPlain(content);
}

export function dumpOf(db: Database): Record<string, DumpedValue> {
  // fromEntries() makes own properties, also of a key like __proto__.
  return Object.fromEntries(
    db
      .sorted()
      .map(([key, stored]) => [
        key,
        { type: stored.type, value: plainOf(stored), expires: db.expiryOf(key) !== undefined },
      ]),
  );
}

export function fingerprintOf(db: Database, project?: Projection): string {
  let fingerprint = '';
  for (const [key, stored] of db.sorted()) {
    const text = printOf(key, stored, project);
    if (text === undefined) continue;
    // The texts are JSON, so what stands between them cannot be part of one.
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
