// The types of redis.mjs, for the tests.

export function redisArguments(where: {
  port: number;
  folder: string;
  appendfsync?: 'always' | 'everysec' | 'no';
}): string[];
