import { script, type Evaluate, type Script } from '../../store/redis/scripts.js';
import type { RedisConnection } from './clients.js';
import { callRedis, isLackOfRights, lackOfRights } from './errors.js';
import { sendOnce, type Send } from './refusals.js';
import type { Right } from './rights.js';

export interface EvaluateOptions {
  /** How temporary refusals of Redis are handled; a repeated request is recognised by what it has written. */
  send?: Send;
  /** Rights that are checked before the first script, so that none fails halfway. */
  rights?: readonly Right[];
}

/**
 * Arguments: commands with their arguments, as JSON. A Redis that cannot tell has none of them lacking.
 *
 * @returns the positions of those that the user lacks
 */
const LACKING = script(`
local found = {}
if redis.acl_check_cmd then
  for n, command in ipairs(ARGV) do
    local known, allowed = pcall(redis.acl_check_cmd, unpack(cjson.decode(command)))
    if not known or not allowed then found[#found + 1] = n end
  end
end
return found`);

/** Runs scripts by their hash; where one is missing (a new or flushed server) its code is sent. */
export function createEvaluate(
  redis: RedisConnection,
  { send = sendOnce, rights = [] }: EvaluateOptions = {},
): Evaluate {
  let isChecked = false;
  let checking: Promise<void> | undefined;

  async function evaluate(
    { sha, code }: Script,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<unknown> {
    const input = [keys.length, ...keys, ...args] as const;
    try {
      return await redis.evalsha(sha, ...input);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.eval(code, ...input);
    }
  }

  async function checkRights(): Promise<void> {
    const key = rights[0]?.[1];
    if (key === undefined) return;
    const commands = rights.map((right) => JSON.stringify(right));
    const lacking = (await evaluate(LACKING, [key], commands)) as number[];
    if (lacking.length > 0) throw lackOfRights(lacking.map((n) => rights[n - 1]?.[0]).join(', '));
  }

  function check(): Promise<void> {
    checking ??= checkRights()
      .then(() => {
        isChecked = true;
      })
      .finally(() => {
        // Rights may be granted meanwhile, so they are checked again next time.
        checking = undefined;
      });
    return checking;
  }

  return (called, keys, args) => {
    const checked = async (): Promise<unknown> => {
      if (!isChecked) await check();
      try {
        return await evaluate(called, keys, args);
      } catch (error) {
        if (!isLackOfRights(error)) throw error;
        // A right was withdrawn meanwhile: report which one, and start nothing else without it.
        isChecked = false;
        await check();
        throw error;
      }
    };
    return callRedis(send(checked));
  };
}
