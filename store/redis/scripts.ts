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

export function toArguments(command: readonly string[]): string[] {
  return [String(command.length), ...command];
}
