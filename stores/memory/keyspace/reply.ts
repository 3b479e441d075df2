/** A command's reply as Lua sees it: nil is `false`, a status is its text. */
export type Reply = string | number | false | Reply[];

/** An error reply; the message is Redis' own text including its prefix. */
export class RedisError extends Error {
  override name = 'RedisError';
}

export function noSuchKey(): RedisError {
  return new RedisError('ERR no such key');
}

export function wrongArity(name: string): RedisError {
  return new RedisError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
}

/** Something that Redis supports and this keyspace does not: a bug of the caller, not a reply. */
export function unsupported(what: string): Error {
  return new Error(`The keyspace in memory does not support ${what}`);
}
