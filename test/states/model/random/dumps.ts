import type { DumpedValue } from '../../../../stores/memory/keyspace/fingerprint.js';
import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import type { DumpedKey } from '../../../support/redis-dump.js';

/** All keys with their values, and whether they expire. When they do is left out: Redis counts by its own clock. */
export type Dump = Record<string, { expires: boolean; value: unknown }>;

export function toDump(keys: readonly DumpedKey[]): Dump {
  return Object.fromEntries(
    keys.map(({ key, ttl, value }) => [key, { expires: ttl !== undefined, value }]),
  );
}

/** A keyspace in the same form. */
export function dumpOf(keyspace: Keyspace): Dump {
  return Object.fromEntries(
    Object.entries(keyspace.dump()).map(([key, dumped]) => {
      return [key, { expires: dumped.expires, value: toValue(dumped) }];
    }),
  );
}

function toValue({ type, value }: DumpedValue): DumpedKey['value'] {
  switch (type) {
    case 'hash':
      return { type, fields: Object.fromEntries(value as [string, string][]) };
    case 'list':
    case 'set':
      return { type, items: value as string[] };
    case 'zset':
      return { type, scores: value as [string, string][] };
    case 'stream':
      return { type, ...(value as { lastId: string; entries: [string, string[]][] }) };
    default:
      return { type, text: value as string };
  }
}
