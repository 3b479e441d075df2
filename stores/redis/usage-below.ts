import { isTerminal, type RunStatus } from '../../protocol/run.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

/** Sub-agents whose usage is read at once. */
const READ_AT_ONCE = 100;

/**
 * What the active sub-agents of a conversation's newest run have used: it counts for the run that asked
 * for them only once they end.
 */
export async function readUsageBelow(
  { redis, keys }: Pick<RedisContext, 'redis' | 'keys'>,
  sessionId: string,
): Promise<string[]> {
  const { root, children } = keys.session(sessionId);
  const [run, runs] = await Promise.all([
    callRedis(redis.hget(root, 'run')),
    callRedis(redis.hgetall(children)),
  ]);
  const parts = Object.keys(runs).filter((part) => runs[part] === run);
  const usages: string[] = [];
  for (let at = 0; at < parts.length; at += READ_AT_ONCE) {
    const found = await Promise.all(
      parts
        .slice(at, at + READ_AT_ONCE)
        .map((part) =>
          callRedis(redis.hmget(keys.session(`${sessionId}.${part}`).root, 'status', 'usage')),
        ),
    );
    for (const [status, usage] of found) {
      if (usage != null && status != null && !isTerminal(status as RunStatus)) usages.push(usage);
    }
  }
  return usages;
}
