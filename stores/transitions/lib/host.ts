/**
 * What a transition gets from its host: Redis' commands and JSON parser. Inside Redis these names
 * are Redis' own (the build drops this module there); in process, `runOn` provides the commands of
 * an in-memory keyspace for the duration of one transition.
 *
 * Lua and JavaScript differ in truthiness (in Lua, 0 and '' are true), so transitions compare
 * explicitly. An absent value is `false` in a reply of Redis and `undefined` everywhere else.
 */
/** Of a command: numbers as text, since Redis prints a number with 17 digits, which takes it longer than most commands. */
export type Argument = string;
export type StreamEntry = [id: string, fields: string[]];
/** An error as `pcall` returns it. */
export interface ErrorReply {
  err: string;
}

interface Call {
  (
    command: 'GET' | 'HGET' | 'LINDEX' | 'LPOP' | 'ZSCORE',
    key: string,
    ...args: Argument[]
  ): string | false;
  (command: 'HMGET', key: string, ...fields: Argument[]): (string | false)[];
  (
    command: 'HGETALL' | 'HKEYS' | 'HVALS' | 'LRANGE' | 'ZRANGEBYSCORE',
    key: string,
    ...args: Argument[]
  ): string[];
  (command: 'TIME'): [seconds: string, microseconds: string];
  (command: 'XRANGE' | 'XREVRANGE', key: string, ...args: Argument[]): StreamEntry[];
  (command: CountingCommand, key: string, ...args: Argument[]): number;
}
/** Commands whose replies are numbers, or are ignored. */
type CountingCommand =
  | ('UNLINK' | 'EXISTS' | 'EXPIRE' | 'PEXPIRE' | 'PERSIST' | 'PTTL' | 'RENAME')
  | ('HSET' | 'HSETNX' | 'HDEL' | 'HEXISTS' | 'HINCRBY' | 'HLEN' | 'HSTRLEN')
  | ('RPUSH' | 'LLEN' | 'LSET' | 'LREM' | 'LTRIM' | 'LINSERT')
  | ('SADD' | 'SREM' | 'SISMEMBER' | 'SCARD')
  | ('XADD' | 'XDEL' | 'XLEN' | 'XTRIM' | 'ZADD' | 'ZREM' | 'ZREMRANGEBYSCORE' | 'SPUBLISH');

export interface Host {
  call: (command: string, ...args: Argument[]) => unknown;
  encode: (value: string) => string;
  decode: (json: string) => unknown;
  byteLength: (text: string) => number;
}

let host: Host | undefined;

/** Runs a transition on a host. Transitions are synchronous, so only one host is set at a time. */
export function runOn<Result>(lent: Host, transition: () => Result): Result {
  const before = host;
  host = lent;
  try {
    return transition();
  } finally {
    host = before;
  }
}

function current(): Host {
  if (host === undefined) throw new Error('A transition runs on a host.');
  return host;
}

export const redis = {
  /** Executes a command; an error ends the transition. */
  call: ((command: string, ...args: Argument[]) => current().call(command, ...args)) as Call,
  /** Executes a command; an error is returned as a value. */
  pcall: (command: string, ...args: Argument[]): string | ErrorReply => {
    try {
      return current().call(command, ...args) as string;
    } catch (error) {
      return { err: (error as Error).message };
    }
  },
};

export const cjson = {
  /** Encodes strings only: user and model content is never re-encoded from decoded values. */
  encode: (value: string): string => current().encode(value),
  decode: (json: string): unknown => current().decode(json),
};

/** Gives an object its keys as properties: inside Redis each when it is asked for first. */
export function withKeys<Holder extends { base: string }, Name extends string>(
  holder: Holder,
  names: readonly Name[],
): Holder & Record<Name, string> {
  const keys = holder as Record<string, string>;
  for (const name of names) keys[name] = holder.base + name;
  return holder as Holder & Record<Name, string>;
}

/** A whole number as text; Lua's default conversion rounds beyond fourteen digits. */
export function formatInt(value: number): string {
  return String(Math.trunc(value));
}

/** Length in UTF-8 bytes, as Redis counts. */
export function byteLength(text: string): number {
  return current().byteLength(text);
}

export function toNumber(text: string): number {
  return Number(text);
}
