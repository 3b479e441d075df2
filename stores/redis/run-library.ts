import { createHash } from 'node:crypto';
import type { RedisConnection } from './clients.js';
import { isLackOfRights, lackOfRights, reach } from './errors.js';
import {
  functionLibrary,
  functionName,
  scriptForm,
  THIS_LIBRARY,
  type Library,
  type LibraryEntry,
  type TransitionMode,
} from './library.js';
import { mastersOf } from './masters.js';
import { askOnce, type Insist } from './refusals.js';
import type { Right } from './rights.js';

/** Runs the library with keys and arguments; its form is the caller's no concern. */
export type RunLibrary = (
  mode: TransitionMode,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

export interface RunLibraryOptions {
  library?: Library;
  /** What is done when Redis refuses for now; transitions know repeats. */
  insist?: Insist;
  /** What is looked at before the first transition, so that none ends in the middle. */
  rights?: readonly Right[];
}

/** A Redis that took no library is asked again after this long. */
const LOAD_AGAIN_MS = 5_000;

/**
 * The library inside Redis: as functions, which it loads where they are missing (a new server, or one
 * that was flushed), or as a script where functions are not to be had.
 */
export function createRunLibrary(
  redis: RedisConnection,
  { library = THIS_LIBRARY, insist = askOnce, rights = [] }: RunLibraryOptions = {},
): RunLibrary {
  const scripts = new Map<string, { code: string; sha: string }>();
  /** Set once functions were refused for good. */
  let needsScript = false;
  let loading: Promise<void> | undefined;
  let loadRefused: number | undefined;
  let isChecked = false;
  let checking: Promise<void> | undefined;

  function load(): Promise<void> {
    loading ??= loadEverywhere(redis, functionLibrary(library)).finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function runScript(entry: LibraryEntry, given: Given): Promise<unknown> {
    const name = entry === 'rights' ? entry : String(given[1 + given[0]]);
    const { code, sha } = scripts.get(name) ?? remember(entry, name);
    try {
      return await redis.evalsha(sha, ...given);
    } catch (error) {
      if (!startsWith(error, 'NOSCRIPT')) throw error;
      return redis.eval(code, ...given);
    }
  }

  function remember(entry: LibraryEntry, name: string): { code: string; sha: string } {
    const code = scriptForm(library, entry, name);
    const script = { code, sha: createHash('sha1').update(code).digest('hex') };
    scripts.set(name, script);
    return script;
  }

  async function runFunction(entry: LibraryEntry, given: Given): Promise<unknown> {
    const name = functionName(library, entry);
    const call = () =>
      entry === 'reading' || entry === 'rights'
        ? redis.fcall_ro(name, ...given)
        : redis.fcall(name, ...given);
    try {
      return await call();
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    if (loadRefused !== undefined && performance.now() - loadRefused < LOAD_AGAIN_MS) {
      return runScript(entry, given);
    }
    try {
      await load();
    } catch (error) {
      if (!takesNoLibrary(error)) throw error;
      // A full Redis and a replica run scripts that free memory, or read.
      loadRefused = performance.now();
      return runScript(entry, given);
    }
    return call();
  }

  async function invoke(entry: LibraryEntry, given: Given): Promise<unknown> {
    if (needsScript) return runScript(entry, given);
    try {
      return await runFunction(entry, given);
    } catch (error) {
      if (!hasNoFunctions(error)) throw error;
      needsScript = true;
      return runScript(entry, given);
    }
  }

  async function checkRights(): Promise<void> {
    const key = rights[0]?.[1];
    if (key === undefined) return;
    const commands = rights.map((right) => JSON.stringify(right));
    const lacking = (await invoke('rights', [1, key, ...commands])) as number[];
    if (lacking.length === 0) return;
    throw lackOfRights(lacking.map((n) => rights[n - 1]?.[0]).join(', '));
  }

  function check(): Promise<void> {
    checking ??= checkRights()
      .then(() => {
        isChecked = true;
      })
      .finally(() => {
        // Rights may be given meanwhile.
        checking = undefined;
      });
    return checking;
  }

  return (mode, keys, args) => {
    const given: Given = [keys.length, ...keys, ...args];
    const work = async (): Promise<unknown> => {
      if (!isChecked) await check();
      try {
        return await invoke(mode, given);
      } catch (error) {
        if (!isLackOfRights(error)) throw error;
        // Taken away meanwhile: which it was is said, and nothing is begun again without it.
        isChecked = false;
        await check();
        throw error;
      }
    };
    return reach(insist(work));
  };
}

type Given = [numberOfKeys: number, ...keysAndArgs: (string | number)[]];

/** Loads it on all masters that can be reached; who needs one of the others loads it again. */
async function loadEverywhere(redis: RedisConnection, code: string): Promise<void> {
  const loads = mastersOf(redis).map((node) => node.function('LOAD', 'REPLACE', code));
  const results = await Promise.allSettled(loads);
  const failures = results.filter((result) => result.status === 'rejected');
  if (failures.length > 0 && failures.length === results.length) throw failures[0]?.reason;
}

/** No functions: an older or another server, or a user who may not use them. */
function hasNoFunctions(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/^ERR unknown (command|subcommand)/i.test(error.message)) return true;
  return isLackOfRights(error) && /'(fcall|fcall_ro|function)\b/i.test(error.message);
}

function isMissing(error: unknown): boolean {
  return startsWith(error, 'ERR Function not found');
}

function takesNoLibrary(error: unknown): boolean {
  return startsWith(error, 'OOM') || startsWith(error, 'READONLY');
}

function startsWith(error: unknown, text: string): boolean {
  return error instanceof Error && error.message.startsWith(text);
}
