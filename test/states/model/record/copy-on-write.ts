import type { Keyspace } from '../../../../stores/memory/keyspace.js';

/** Commands of transitions that change nothing that is stored. */
const READS = new Set([
  ...['HGET', 'HMGET', 'HGETALL', 'HKEYS', 'HVALS', 'HEXISTS', 'HLEN', 'LRANGE', 'LINDEX', 'LLEN'],
  ...[
    'SISMEMBER',
    'SCARD',
    'XRANGE',
    'XREVRANGE',
    'XLEN',
    'GET',
    'EXISTS',
    'PTTL',
    'TIME',
    'SPUBLISH',
  ],
]);

export interface CopyOnWrite {
  keyspace: Pick<Keyspace, 'call'>;
  /** The copy that was written to; undefined if nothing was written. */
  written: () => Keyspace | undefined;
  /** The first command that wrote. */
  firstWrite: () => string | undefined;
}

/** A keyspace that is copied before the first write to it. */
export function copyOnWrite(original: Keyspace): CopyOnWrite {
  let copy: Keyspace | undefined;
  let first: readonly unknown[] | undefined;
  const call: Keyspace['call'] = (command, ...args) => {
    if (copy === undefined && !READS.has(command)) {
      copy = original.fork();
      first = [command, ...args];
    }
    return (copy ?? original).call(command, ...args);
  };
  return { keyspace: { call }, written: () => copy, firstWrite: () => first?.join(' ') };
}
