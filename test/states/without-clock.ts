import type { Projection } from '../../stores/memory/keyspace/fingerprint.js';

/** Fields of hashes that say when something was, or where in the log: by the names before a colon. */
const CLOCKED = new Set([
  ...['created', 'started', 'updated', 'born', 'seq', 'turnSeq', 'runSeq', 'pauseSeq', 'openSeq'],
  ...['f', 's', 'e', 'asked'],
  // Places of turns.
  't',
]);

/** The same inside of JSON texts. */
const CLOCKED_JSON =
  /"(?:at|timestamp|startedAt|endedAt|queuedAt|startSequence|sequence|known)":\d+/g;

/** A record without clocks and sequences, which make no difference to its future. */
export const withoutClock: Projection = (key, value, type) => {
  if (type === 'zset' || type === 'string' || type === 'stream') return undefined;
  const name = key.slice(key.lastIndexOf(':') + 1);
  if (name === 'checkpoints') return undefined;
  if (type === 'hash') {
    return (value as [string, string][]).flatMap(([field, text]) => {
      const what = field.slice(0, Math.max(0, field.indexOf(':'))) || field;
      // A writer's token stays.
      if (CLOCKED.has(what) && !(name === 'writers' && what === 't')) return [];
      return [[field, what === 'deadline' ? 'set' : text.replace(CLOCKED_JSON, '')]];
    });
  }
  return (value as string[]).map((text) => text.replace(CLOCKED_JSON, ''));
};
