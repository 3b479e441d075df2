import type { Args, Command } from './command.js';
import { Database, type DatabaseOptions } from './database.js';
import { dumpOf, fingerprintOf, type DumpedValue, type Projection } from './fingerprint.js';
import { hashCommands } from './hashes.js';
import { keyCommands } from './keys.js';
import { listCommands } from './lists.js';
import { formatNumber } from './numbers.js';
import { RedisError, wrongArity, type Reply } from './reply.js';
import { serverCommands } from './server.js';
import { setCommands, sortedSetCommands } from './sets.js';
import { streamCommands } from './streams.js';

/**
 * An in-process stand-in for Redis on which transitions run without a server. It supports the
 * commands and options that the store uses, in upper case, and refuses others.
 */
export interface Keyspace {
  /** Executes one command; throws a RedisError with the text of Redis' error reply. */
  call: (command: string, ...args: (string | number)[]) => Reply;
  /** A copy with no observable sharing. A value is copied when either side writes to it. */
  fork: () => Keyspace;
  /** Everything stored, in a fixed order: dumps are equal if and only if the contents are. */
  dump: () => Record<string, DumpedValue>;
  /**
   * Equal if and only if the dumps are, after `project` was applied to their values; cached per
   * value.
   */
  fingerprint: (project?: Projection) => string;
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [
    ...[keyCommands, hashCommands, listCommands, setCommands],
    ...[sortedSetCommands, streamCommands, serverCommands],
  ].flatMap((table) => Object.entries(table)),
);

export function createKeyspace(options: DatabaseOptions): Keyspace {
  return keyspaceOn(new Database(options));
}

function keyspaceOn(db: Database): Keyspace {
  return {
    call: (command, ...args) => run(db, command, toTexts(args)),
    fork: () => keyspaceOn(db.fork()),
    dump: () => dumpOf(db),
    fingerprint: (project) => fingerprintOf(db, project),
  };
}

function run(db: Database, name: string, args: readonly string[]): Reply {
  const command = COMMANDS.get(name);
  if (command === undefined) throw new RedisError(`ERR unknown command '${name}'`);
  const { arity } = command;
  const words = args.length + 1;
  if (arity < 0 ? words < -arity : words !== arity) throw wrongArity(name);
  return command.run(db, args as unknown as Args);
}

/** Converts arguments to text in place, as redis.call() does. */
function toTexts(args: unknown[]): string[] {
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i];
    if (typeof arg === 'string') continue;
    if (typeof arg !== 'number') {
      throw new RedisError('ERR Lua redis lib command arguments must be strings or integers');
    }
    args[i] = formatNumber(arg);
  }
  return args as string[];
}
