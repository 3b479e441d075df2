import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** One Lua file per state transition; the files under lua/lib are put before each. */
const SCRIPTS = {
  begin: { keys: 13, libs: ['log', 'session'] },
  claim: { keys: 13, libs: ['log', 'session'] },
  append: { keys: 4, libs: ['log'] },
  discard: { keys: 13, libs: ['log', 'session'] },
  commit: { keys: 13, libs: ['log', 'session'] },
  'start-call': { keys: 13, libs: ['log', 'session'] },
  'settle-call': { keys: 13, libs: ['log', 'session'] },
  stop: { keys: 13, libs: ['log', 'session'] },
  end: { keys: 13, libs: ['log', 'session'] },
  'note-snapshot': { keys: 1, libs: [] },
} as const;

export type ScriptName = keyof typeof SCRIPTS;
export type ScriptReply = (string | number)[];

function readLua(path: string): string {
  return readFileSync(new URL(`./lua/${path}.lua`, import.meta.url), 'utf8');
}

/** What ioredis needs to call the scripts by name (EVALSHA, with EVAL where the server forgot them). */
export function loadScripts(): Record<string, { lua: string; numberOfKeys: number }> {
  return Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, { keys, libs }]) => [
      name,
      {
        lua: [...libs.map((lib) => readLua(`lib/${lib}`)), readLua(name)].join('\n'),
        numberOfKeys: keys,
      },
    ]),
  );
}

type ScriptCall = (...args: (string | number)[]) => Promise<ScriptReply>;

/** Calls a script on a connection that was made with `loadScripts()`. */
export function runScript(
  redis: Redis,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<ScriptReply> {
  // ioredis adds the scripts as methods at run time; their names are not in its types.
  const call = (redis as unknown as Record<string, ScriptCall>)[name];
  if (call === undefined) throw new Error(`script ${name} is not loaded`);
  return call.call(redis, ...keys, ...args);
}
