/** What a command answers, as Lua sees it: a nil reply is `false`, a status is its text. */
export type Reply = string | number | false | Reply[];

/** An error reply; the message is Redis' own text with its prefix. */
export class RedisError extends Error {
  override name = 'RedisError';
}

export function wrongType(): RedisError {
  return new RedisError('WRONGTYPE Operation against a key holding the wrong kind of value');
}

export function syntaxError(): RedisError {
  return new RedisError('ERR syntax error');
}

export function noSuchKey(): RedisError {
  return new RedisError('ERR no such key');
}

export function wrongArity(name: string): RedisError {
  return new RedisError(`ERR wrong number of arguments for '${name}' command`);
}

export function invalidExpire(name: string): RedisError {
  return new RedisError(`ERR invalid expire time in '${name}' command`);
}

/** Something that Redis can do and this host cannot: a mistake of its caller, not a reply. */
export function unsupported(what: string): Error {
  return new Error(`The keyspace in memory does not support ${what}`);
}
