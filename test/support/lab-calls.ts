import type { Redis } from 'ioredis';

/** Returns a script entry for a call that a person has to approve. */
export function charge(id: string, amount = 5): object {
  return { tool: 'charge', id, args: { amount } };
}

/** Returns a script entry for a call that a sub-agent executes with its own script. */
export function delegate(id: string, ...script: object[]): object {
  return { tool: 'delegate', id, args: { script } };
}

/**
 * Returns how often calls took effect, by their ids.
 *
 * @param runs beginning of the ids of their runs
 */
export async function chargesOf(
  redis: Pick<Redis, 'hgetall'>,
  runs: string,
): Promise<Record<string, number>> {
  return countsOf(Object.entries(await redis.hgetall('lab:charges')), runs);
}

/** Returns the counts of the calls of these runs, by the ids of the calls. */
export function countsOf(
  all: Iterable<readonly [key: string, count: string | number]>,
  runs: string,
): Record<string, number> {
  const own = [...all].filter(([key]) => key.startsWith(runs));
  return Object.fromEntries(
    own.map(([key, count]) => [key.slice(key.lastIndexOf('/') + 1), Number(count)]),
  );
}
