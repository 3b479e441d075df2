import { createHash } from 'node:crypto';
import type { RedisConnection } from './clients.js';
import { reach } from './connection.js';
import { functionLibrary, FUNCTION_NAMES, scriptForm, type TransitionMode } from './library.js';

/** Runs the library with keys and arguments; its form is the caller's no concern. */
export type RunLibrary = (
  mode: TransitionMode,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * The library inside Redis: as functions, which it loads where they are missing (a new server, or one
 * that was flushed), or as a script where functions are not to be had.
 */
export function createRunLibrary(redis: RedisConnection): RunLibrary {
  const scripts = new Map<TransitionMode, { code: string; sha: string }>();
  /** Set once functions were refused for good. */
  let needsScript = false;
  let loading: Promise<void> | undefined;

  function load(): Promise<void> {
    loading ??= loadEverywhere(redis).finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function runScript(mode: TransitionMode, given: Given): Promise<unknown> {
    const { code, sha } = scripts.get(mode) ?? remember(mode);
    try {
      return await redis.evalsha(sha, ...given);
    } catch (error) {
      if (!startsWith(error, 'NOSCRIPT')) throw error;
      return redis.eval(code, ...given);
    }
  }

  function remember(mode: TransitionMode): { code: string; sha: string } {
    const code = scriptForm(mode);
    const script = { code, sha: createHash('sha1').update(code).digest('hex') };
    scripts.set(mode, script);
    return script;
  }

  async function runFunction(mode: TransitionMode, given: Given): Promise<unknown> {
    const call = () =>
      mode === 'reading'
        ? redis.fcall_ro(FUNCTION_NAMES[mode], ...given)
        : redis.fcall(FUNCTION_NAMES[mode], ...given);
    try {
      return await call();
    } catch (error) {
      if (!startsWith(error, 'ERR Function not found')) throw error;
    }
    try {
      await load();
    } catch (error) {
      // A full Redis takes no library, but scripts that free memory.
      if (startsWith(error, 'OOM')) return runScript(mode, given);
      throw error;
    }
    return call();
  }

  return (mode, keys, args) => {
    const given: Given = [keys.length, ...keys, ...args];
    const work = async (): Promise<unknown> => {
      if (needsScript) return runScript(mode, given);
      try {
        return await runFunction(mode, given);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        needsScript = true;
        return runScript(mode, given);
      }
    };
    return reach(work());
  };
}

type Given = [numberOfKeys: number, ...keysAndArgs: (string | number)[]];

async function loadEverywhere(redis: RedisConnection): Promise<void> {
  const code = functionLibrary();
  const masters = 'nodes' in redis ? redis.nodes('master') : [redis];
  await Promise.all(masters.map((node) => node.function('LOAD', 'REPLACE', code)));
}

/** No functions: an older or another server, or a user who may not use them. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/^ERR unknown (command|subcommand)/i.test(error.message)) return true;
  return /^NOPERM .*\b(fcall|fcall_ro|function)\b/i.test(error.message);
}

function startsWith(error: unknown, text: string): boolean {
  return error instanceof Error && error.message.startsWith(text);
}
