import { untilDone } from '../change.js';
import { script, type Evaluate } from './send.js';

/** A read and the reply that it must still give; `''` for a missing value. */
export type Check = readonly [reply: string, command: 'HGET' | 'ZSCORE', key: string, name: string];
export type Write = readonly [command: string, key: string, ...args: (string | number)[]];

/** Options of a conditional write. */
interface Options {
  /** True if a full Redis accepts it too. */
  isFreeing?: boolean;
  /** The reply to the first check once these writes were made, by which a repeated request is recognised. */
  done?: string;
}

/** Writes to keys of one slot: all of them, or none if a check fails. @returns whether they were written */
export type WriteIf = (
  checks: readonly Check[],
  writes: readonly Write[],
  options?: Options,
) => Promise<boolean>;

/** Publishes to the shard of a channel, or, before Redis 7, which has no shards, to the whole server. */
export const PUBLISH = `
local function publish(channel, message)
  local sent = redis.pcall('SPUBLISH', channel, message)
  if type(sent) == 'table' then redis.call('PUBLISH', channel, message) end
end`;

/**
 * write if: writes, if the reads still give the replies on which the change was decided.
 *
 * Keys: one of the slot. Arguments: the reply to the first check once the writes were made, or nothing · number of
 * checks · for each the reply, the number of words of its command, and the words · commands that write, each preceded
 * by its number of words. Entries of a log come first: an id that exists is refused before anything is written.
 *
 * @returns 1 if written, now or by an earlier send · 0 if a reply differs
 */
const WRITE_IF_CODE = `${PUBLISH}
local at = 3
for check = 1, tonumber(ARGV[2]) do
  local last = at + 1 + tonumber(ARGV[at + 1])
  local reply = redis.call(unpack(ARGV, at + 2, last)) or ''
  if check == 1 and ARGV[1] ~= '' and reply == ARGV[1] then return 1 end
  if reply ~= ARGV[at] then return 0 end
  at = last + 1
end
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  if ARGV[at + 1] == 'SPUBLISH' then publish(unpack(ARGV, at + 2, last)) else redis.call(unpack(ARGV, at + 1, last)) end
  at = last + 1
end
return 1`;
export const WRITE_IF = script(WRITE_IF_CODE);
/**
 * A full Redis lets a script go on that has sent a write, which here changes nothing. Before Redis 7, no flag asks for
 * that.
 */
export const WRITE_IF_FREEING = script(`redis.pcall('ZREM', KEYS[1], '')${WRITE_IF_CODE}`);

export function toArguments(command: readonly string[]): string[] {
  return [String(command.length), ...command];
}

export function createWriteIf(evaluate: Evaluate): WriteIf {
  return async (checks, writes, { isFreeing = false, done = '' } = {}) => {
    const [first] = writes;
    if (first === undefined) return true;
    const args = [
      done,
      String(checks.length),
      ...checks.flatMap(([reply, ...read]) => [reply, ...toArguments(read)]),
      ...writes.flatMap((write) => toArguments(write.map((word) => String(word).toWellFormed()))),
    ];
    return (await evaluate(isFreeing ? WRITE_IF_FREEING : WRITE_IF, [first[1]], args)) === 1;
  };
}

/** A change that loses every race fails after this many tries. */
const MAX_TRIES = 200;

/** @param attempt returns undefined whenever another change was faster */
export function untilWritten<Reply>(attempt: () => Promise<Reply | undefined>): Promise<Reply> {
  return untilDone(attempt, MAX_TRIES);
}
