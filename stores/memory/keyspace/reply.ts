/** What a command answers, as Lua sees it: a nil reply is `false`, a status is its text. */
export type Reply = string | number | false | Reply[];

/** An error reply; the message is Redis' own text with its prefix. */
export class RedisError extends Error {
  override name = 'RedisError';
}

export function noSuchKey(): RedisError {
  return new RedisError('ERR no such key');
}

export function wrongArity(name: string): RedisError {
  return new RedisError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
}

/** Something that Redis can do and this keyspace cannot: a mistake of its caller, not a reply. */
export function unsupported(what: string): Error {
  return new Error(`The keyspace in memory does not support ${what}`);
}
