import { commandFor } from './commands.js';
import type { Args } from './command.js';
import { Database, type DatabaseOptions } from './database.js';
import { dumpOf, fingerprintOf, type DumpedValue, type Projection } from './fingerprint.js';
import { formatDouble } from './format.js';
import { RedisError, type Reply } from './reply.js';

/** What Redis would hold and answer, in this process: what scripts run on without a server. */
export interface Keyspace {
  /** Executes one command; throws a RedisError with the text that Redis answers. */
  call: (command: string, ...args: (string | number)[]) => Reply;
  /** A copy that shares nothing observable. Values are copied when one of both writes to them. */
  fork: () => Keyspace;
  /** Everything stored, in an order of its own: two dumps are equal if what is stored is. */
  dump: () => Record<string, DumpedValue>;
  /** Equal if and only if the dumps are, their values as `project` shows them; cached per value. */
  fingerprint: (project?: Projection) => string;
}

export interface KeyspaceOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  publish?: (channel: string, message: string) => void;
}

export function createKeyspace(options: KeyspaceOptions): Keyspace {
  return keyspaceOn(new Database(options satisfies DatabaseOptions));
}

function keyspaceOn(db: Database): Keyspace {
  return {
    call: (command, ...args) => {
      const texts = toTexts(args);
      return commandFor(command, texts).run(db, texts as unknown as Args);
    },
    fork: () => keyspaceOn(db.fork()),
    dump: () => dumpOf(db),
    fingerprint: (project) => fingerprintOf(db, project),
  };
}

/** Brings arguments to text in place, as redis.call() does. */
function toTexts(args: unknown[]): string[] {
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i];
    if (typeof arg === 'string') continue;
    if (typeof arg !== 'number') {
      throw new RedisError('ERR Lua redis lib command arguments must be strings or integers');
    }
    args[i] = formatDouble(arg);
  }
  return args as string[];
}
