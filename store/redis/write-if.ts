import { untilDone } from '../change.js';
import { EACH, script, toArguments, type Evaluate } from './scripts.js';

/** A read and the reply that it must still give; `''` for a missing value. */
export type Check = readonly [reply: string, command: 'HGET' | 'ZSCORE', key: string, name: string];
export type Write = readonly [command: string, key: string, ...args: (string | number)[]];

/**
 * Writes to keys of one slot: all of them, or none if a check fails.
 * @returns whether they were written
 */
export type WriteIf = (
  checks: readonly Check[],
  writes: readonly Write[],
  options?: { isFreeing?: boolean },
) => Promise<boolean>;

/**
 * write if: writes, if the reads still give the replies on which the change was decided.
 *
 * Keys: one of the slot. Arguments: number of checks · for each the reply, the number of words of its command, and the
 * words · commands that write.
 *
 * @returns 1 if written · 0 if a reply differs
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

/** A change that loses every race fails after this many tries. */
const MOST_TRIES = 200;

/** @param attempt returns undefined whenever another change was faster */
export function untilWritten<Reply>(attempt: () => Promise<Reply | undefined>): Promise<Reply> {
  return untilDone(attempt, MOST_TRIES);
}
