import { createHash } from 'node:crypto';
import type { RedisConnection } from './clients.js';
import { isLackOfRights, lackOfRights, callRedis } from './errors.js';
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
import { sendOnce, type Send } from './refusals.js';
import type { Right } from './rights.js';
import type { Evaluate, Script } from '../../store/redis/backend.js';

/** Calls the library with keys and arguments, as a function or as a script. */
export type RunLibrary = (
  mode: TransitionMode,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

export interface RunLibraryOptions {
  library?: Library;
  /** How temporary refusals of Redis are handled; transitions recognise repeated requests. */
  send?: Send;
  /** Rights that are checked before the first transition, so that none fails halfway. */
  rights?: readonly Right[];
}

/** Time before loading the library is retried on a Redis that refused it. */
const LOAD_AGAIN_MS = 5_000;

/**
 * Runs the library inside Redis: as functions, which are loaded where they are missing (a new or
 * flushed server), or as scripts if functions are not available.
 */
export function createRunLibrary(
  redis: RedisConnection,
  { library = THIS_LIBRARY, send = sendOnce, rights = [] }: RunLibraryOptions = {},
): { runLibrary: RunLibrary; evaluate: Evaluate } {
  const scripts = new Map<string, { code: string; sha: string }>();
  /** Set once functions were refused permanently. */
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

  async function runScript(entry: LibraryEntry, input: KeysAndArgs): Promise<unknown> {
    const name = entry === 'rights' ? entry : String(input[1 + input[0]]);
    const { code, sha } = scripts.get(name) ?? remember(entry, name);
    try {
      return await redis.evalsha(sha, ...input);
    } catch (error) {
      if (!startsWith(error, 'NOSCRIPT')) throw error;
      return redis.eval(code, ...input);
    }
  }

  function remember(entry: LibraryEntry, name: string): { code: string; sha: string } {
    const code = scriptForm(library, entry, name);
    const script = { code, sha: createHash('sha1').update(code).digest('hex') };
    scripts.set(name, script);
    return script;
  }

  async function runFunction(entry: LibraryEntry, input: KeysAndArgs): Promise<unknown> {
    const name = functionName(library, entry);
    const call = () =>
      entry === 'reading' || entry === 'rights'
        ? redis.fcall_ro(name, ...input)
        : redis.fcall(name, ...input);
    try {
      return await call();
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    if (loadRefused !== undefined && performance.now() - loadRefused < LOAD_AGAIN_MS) {
      return runScript(entry, input);
    }
    try {
      await load();
    } catch (error) {
      if (!takesNoLibrary(error)) throw error;
      // A full Redis and a replica still run scripts that free memory or only read.
      loadRefused = performance.now();
      return runScript(entry, input);
    }
    return call();
  }

  async function invoke(entry: LibraryEntry, input: KeysAndArgs): Promise<unknown> {
    if (needsScript) return runScript(entry, input);
    try {
      return await runFunction(entry, input);
    } catch (error) {
      if (!hasNoFunctions(error)) throw error;
      needsScript = true;
      return runScript(entry, input);
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
        // Rights may be granted meanwhile, so they are checked again next time.
        checking = undefined;
      });
    return checking;
  }

  async function evaluate({ sha, code }: Script, input: KeysAndArgs): Promise<unknown> {
    try {
      return await redis.evalsha(sha, ...input);
    } catch (error) {
      if (!startsWith(error, 'NOSCRIPT')) throw error;
      return redis.eval(code, ...input);
    }
  }

  function withRights(work: () => Promise<unknown>): Promise<unknown> {
    const checked = async (): Promise<unknown> => {
      if (!isChecked) await check();
      try {
        return await work();
      } catch (error) {
        if (!isLackOfRights(error)) throw error;
        // A right was withdrawn meanwhile: report which one, and start nothing else without it.
        isChecked = false;
        await check();
        throw error;
      }
    };
    return callRedis(send(checked));
  }

  return {
    runLibrary: (mode, keys, args) => withRights(() => invoke(mode, [keys.length, ...keys, ...args])),
    evaluate: (script, keys, args) => withRights(() => evaluate(script, [keys.length, ...keys, ...args])),
  };
}

type KeysAndArgs = [numberOfKeys: number, ...keysAndArgs: (string | number)[]];

/**
 * Loads the library on all reachable masters; on the others it is loaded when it is first needed.
 */
async function loadEverywhere(redis: RedisConnection, code: string): Promise<void> {
  const loads = mastersOf(redis).map((node) => node.function('LOAD', 'REPLACE', code));
  const results = await Promise.allSettled(loads);
  const failures = results.filter((result) => result.status === 'rejected');
  if (failures.length > 0 && failures.length === results.length) throw failures[0]?.reason;
}

/**
 * True if functions are not available: an older or different server, or a user without the right.
 */
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
