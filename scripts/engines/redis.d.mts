// The types of redis.mjs, for the tests.

/** Settings of redis.conf; a list is several values. */
export type RedisSettings = Readonly<Record<string, string | number | (string | number)[]>>;

export function redisArguments(
  settings: { port: number; folder: string } & RedisSettings,
): string[];
