import { createHash } from 'node:crypto';

/** A Lua script that is called by its hash. */
export interface Script {
  code: string;
  sha: string;
}

/** Calls a script of the store. */
export type Evaluate = (
  script: Script,
  keys: readonly string[],
  args: readonly string[],
) => Promise<unknown>;

export function script(code: string): Script {
  return { code, sha: createHash('sha1').update(code).digest('hex') };
}

/** Runs commands given as arguments: for each the number of words, then the words. */
export const EACH = `
local function each(at, run)
  while at <= #ARGV do
    local words = tonumber(ARGV[at])
    run(redis.call(unpack(ARGV, at + 1, at + words)))
    at = at + 1 + words
  end
end`;

export function toArguments(command: readonly string[]): string[] {
  return [String(command.length), ...command];
}
