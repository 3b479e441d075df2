import { setTimeout as pause } from 'node:timers/promises';
import { EACH, script, toArguments, type Evaluate } from './scripts.js';

/** A read and the reply that it must still give; `''` where nothing is stored. */
export type Check = readonly [reply: string, command: 'HGET' | 'ZSCORE', key: string, name: string];
export type Write = readonly [command: string, key: string, ...args: (string | number)[]];

/** Writes to keys of one slot: all of them, or none if a check fails. @returns whether they were written */
export type WriteIf = (
  checks: readonly Check[],
  writes: readonly Write[],
  options?: { isFreeing?: boolean },
) => Promise<boolean>;

/**
 * write if: writes, if reads still reply what the change was decided on.
 *
 * Keys: one of the slot. Arguments: how many checks · of each the reply, the number of words of the command, and the
 * words · commands that write.
 *
 * @returns 1 if it was written · 0 if a reply is another one
 */
const WRITE_IF_CODE = `${EACH}
local at = 2
for _ = 1, tonumber(ARGV[1]) do
  local last = at + 1 + tonumber(ARGV[at + 1])
  if (redis.call(unpack(ARGV, at + 2, last)) or '') ~= ARGV[at] then return 0 end
  at = last + 1
end
each(at, function() end)
return 1`;
export const WRITE_IF = script(WRITE_IF_CODE);
/** The same where Redis is full. */
export const WRITE_IF_FREEING = script(`#!lua flags=allow-oom\n${WRITE_IF_CODE}`);

export function createWriteIf(evaluate: Evaluate): WriteIf {
  return async (checks, writes, { isFreeing = false } = {}) => {
    const [first] = writes;
    if (first === undefined) return true;
    const args = [
      String(checks.length),
      ...checks.flatMap(([reply, ...read]) => [reply, ...toArguments(read)]),
      ...writes.flatMap((write) => toArguments(write.map((word) => String(word).toWellFormed()))),
    ];
    return (await evaluate(isFreeing ? WRITE_IF_FREEING : WRITE_IF, [first[1]], args)) === 1;
  };
}

/** Tries of one change that others overtake. */
const MOST_TRIES = 200;
/** Tries after which one waits for a moment. */
const HASTY_TRIES = 3;
const MOST_PAUSE_MS = 20;

/** Decides and writes until it holds; `attempt` replies undefined where it was overtaken. */
export async function untilWritten<Reply>(
  attempt: () => Promise<Reply | undefined>,
): Promise<Reply> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const done = await attempt();
    if (done !== undefined) return done;
    if (tries >= HASTY_TRIES) await pause(Math.random() * MOST_PAUSE_MS);
  }
  throw new Error('other changes were always first');
}
