import type { RedisContext } from '../redis/context.js';
import { createKeySpace } from '../redis/keys.js';
import type { RunLibrary } from '../redis/run-library.js';
import { createTransitions } from '../redis/transitions.js';
import { runOn, type Host } from '../transitions/lib/host.js';
import { run } from '../transitions/library.js';
import { decode, encode } from './keyspace/cjson.js';
import type { Keyspace } from './keyspace/keyspace.js';
import { createLocalCommands } from './local-commands.js';
import type { MemoryData } from './memory-data.js';

/** The transitions as they are, on a keyspace of this process. */
export function createMemoryContext({ keyspace, options, now }: MemoryData): RedisContext {
  const keys = createKeySpace();
  return {
    redis: createLocalCommands(keyspace),
    keys,
    transitions: createTransitions(runInProcess(keyspace), keys, options),
    maxEntries: options.maxChunks,
    now,
    gatherWrites: () => undefined,
  };
}

function runInProcess(keyspace: Keyspace): RunLibrary {
  const host: Host = { call: keyspace.call, encode, decode };
  return async (_mode, keys, args) => runOn(host, () => run(keys, args.map(String)));
}
