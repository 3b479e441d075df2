import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';
import { reach } from './connection.js';

/** Scripts that work on the keys of a whole session; the files under lua/lib are put before each. */
const SESSION_SCRIPTS = [
  'begin',
  'begin-queued',
  'edit-queued',
  'remove-queued',
  'resume-run',
  'rewind',
  'branch',
  'claim',
  'discard',
  'commit',
  'start-call',
  'settle-call',
  'extend-deadline',
  'lease-call',
  'stop',
  'take-over',
  'end',
  'open-writer',
  'close-writer',
  'mark',
  'truncate',
  'save-state',
  'stage',
  'drop-staged',
  'erase',
  'begin-child',
  'take-call-id',
  'read-view',
] as const;
/** What those scripts share, in this order: each part uses the ones before it. */
const SESSION_PARTS = ['session', 'calls', 'attempts', 'tree', 'queue', 'runs'] as const;
const SESSION_KEYS = 40;

export type ScriptName =
  (typeof SESSION_SCRIPTS)[number] | 'append' | 'note-snapshot' | 'read-page';
export type ScriptReply = (string | number)[];

/** How long what has ended is kept, seconds. */
export interface Expiry {
  streamTtlSeconds: number;
  /** 0: for ever. */
  sessionTtlSeconds: number;
}

/** One Lua file per state transition. */
export interface Scripts {
  run: (
    name: ScriptName,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => Promise<ScriptReply>;
}

function readLua(path: string): string {
  return readFileSync(new URL(`./lua/${path}.lua`, import.meta.url), 'utf8');
}

/** Adds the scripts to a connection (EVALSHA, with EVAL where the server forgot them). */
export function createScripts(redis: Redis | Cluster, expiry: Expiry): Scripts {
  const settings = [
    `local STREAM_TTL_SECONDS = ${String(expiry.streamTtlSeconds)}`,
    `local SESSION_TTL_SECONDS = ${String(expiry.sessionTtlSeconds)}`,
  ];
  // ioredis keeps commands by name on the connection, which may be somebody else's as well.
  const nameOf = (name: ScriptName): string =>
    `helix/${name}/${String(expiry.streamTtlSeconds)}/${String(expiry.sessionTtlSeconds)}`;
  const define = (name: ScriptName, numberOfKeys: number, parts: string[]): void => {
    redis.defineCommand(nameOf(name), { numberOfKeys, lua: parts.join('\n') });
  };
  const log = readLua('lib/log');
  const session = SESSION_PARTS.map((part) => readLua(`lib/${part}`));
  for (const name of SESSION_SCRIPTS) {
    const own = name === 'rewind' ? [readLua('lib/rewinding'), readLua(name)] : [readLua(name)];
    define(name, SESSION_KEYS, [...settings, log, ...session, ...own]);
  }
  define('append', 5, [log, readLua('append')]);
  define('note-snapshot', 1, [readLua('note-snapshot')]);
  define('read-page', 2, [readLua('read-page')]);

  // Their names are not in the types of ioredis.
  const commands = redis as unknown as Record<string, ScriptCall>;
  return {
    run: (name, keys, args) => {
      const call = commands[nameOf(name)];
      if (call === undefined) throw new Error(`script ${name} is not loaded`);
      return reach(call.call(redis, ...keys, ...args));
    },
  };
}

type ScriptCall = (...args: (string | number)[]) => Promise<ScriptReply>;
