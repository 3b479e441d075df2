import type { RedisContext } from '../redis/context.js';
import { createKeySpace } from '../redis/keys.js';
import type { RunLibrary } from '../redis/run-library.js';
import { createTransitions } from '../redis/transitions.js';
import { runOn, type Host } from '../transitions/lib/host.js';
import { RECORD_LAYOUT } from '../transitions/lib/layout.js';
import { run } from '../transitions/library.js';
import { decode, encode } from './keyspace/cjson.js';
import type { Keyspace } from './keyspace/keyspace.js';
import { createLocalCommands } from './local-commands.js';
import type { MemoryData } from './memory-data.js';
import { toWireText } from './to-wire-text.js';

/** The transitions as they are, on a keyspace of this process. */
export function createMemoryContext({ keyspace, options, now }: MemoryData): RedisContext {
  const keys = createKeySpace();
  return {
    redis: createLocalCommands(keyspace),
    keys,
    transitions: createTransitions(runInProcess(keyspace, now), keys, options),
    // No other release works on the memory of this process.
    layout: () => RECORD_LAYOUT,
    maxEntries: options.maxChunks,
    now,
    gatherWrites: () => undefined,
  };
}

/** Keys that nobody asks for any more are looked for this often. */
const SWEEP_MS = 60_000;

function runInProcess(keyspace: Keyspace, now: () => number): RunLibrary {
  const host: Host = {
    call: keyspace.call,
    encode,
    decode,
    byteLength: (text: string) => Buffer.byteLength(text),
  };
  let sweptAt = now();
  return async (_mode, keys, args) => {
    if (now() - sweptAt >= SWEEP_MS) {
      sweptAt = now();
      // Counting drops what has expired.
      keyspace.call('DBSIZE');
    }
    return runOn(host, () => run(keys, args.map(toWireText)));
  };
}
