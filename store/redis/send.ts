import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { retryDelay } from '../../protocol/time.js';
import type { RedisConnection } from './clients.js';
import { isLackOfRights, missingRights, isTemporary, toContractError } from './errors.js';
import type { Right } from './rights.js';

/** A Lua script that is called by its hash. */
export interface Script {
  code: string;
  sha: string;
}

export function script(code: string): Script {
  return { code, sha: createHash('sha1').update(code).digest('hex') };
}

/** Calls a script of the store. */
export type Evaluate = (
  script: Script,
  keys: readonly string[],
  args: readonly string[],
) => Promise<unknown>;

/** Runs a command on Redis and decides how temporary refusals are handled. */
export type Send = <T>(work: () => Promise<T>) => Promise<T>;

const RETRY = { firstMs: 50, mostMs: 1_000 };

/** Reports refusals to the caller at once. */
export const sendOnce: Send = (work) => work();

/**
 * Resends a command while Redis temporarily refuses it, in which case nothing was executed. Workers wait like this, as
 * they wait for a connection, so that model output is not paid for twice.
 *
 * @param isEnded true once this process has closed the connection
 */
export function waitOutRefusals(isEnded: () => boolean): Send {
  async function repeat<T>(work: () => Promise<T>, refusal: unknown): Promise<T> {
    let error = refusal;
    // A loop: if each attempt awaited the next one, a long refusal would keep a promise of each.
    for (let attempt = 1; isTemporary(error) && !isEnded(); attempt += 1) {
      await pause(retryDelay({ attempt, ...RETRY }), undefined, { ref: false });
      try {
        return await work();
      } catch (again) {
        error = again;
      }
    }
    throw error;
  }
  return (work) => work().catch((error: unknown) => repeat(work, error));
}

/**
 * Counts commands until they are answered.
 *
 * @param cork called before each command
 * @param connected nothing is sent before it resolves
 */
export function sendCounted(
  repeat: Send,
  unanswered: Unanswered,
  cork: () => void,
  connected?: Promise<void>,
): Send {
  let isConnecting = connected !== undefined;
  void connected?.then(() => {
    isConnecting = false;
  });
  const sendNow: Send = (work) =>
    repeat(() => {
      cork();
      return unanswered.during(work);
    });
  return (work) =>
    connected !== undefined && isConnecting ? connected.then(() => sendNow(work)) : sendNow(work);
}

export type Unanswered = ReturnType<typeof createUnanswered>;

/**
 * Tracks unanswered commands. Commands that wait for a connection count too: a process without one cannot write either.
 */
export function createUnanswered() {
  // The map keeps the order of sending, so the oldest comes first.
  const sentAt = new Map<object, number>();
  let answeredAt = 0;
  return {
    /** Runs work on Redis and counts it until it succeeds or fails. */
    during: <T>(work: () => Promise<T>): Promise<T> => {
      const command = {};
      const end = (): void => {
        sentAt.delete(command);
        answeredAt = performance.now();
      };
      const working = work();
      // Work that throws at once is not counted, since nothing would end it.
      sentAt.set(command, performance.now());
      working.then(end, end);
      return working;
    },
    /** Time without any answer while a command waits, ms; 0 if none waits. One silent node of a cluster is not seen. */
    silentMs: (): number => {
      for (const sent of sentAt.values()) return performance.now() - Math.max(sent, answeredAt);
      return 0;
    },
  };
}

const corked = new WeakSet<Duplex>();

/**
 * Sends all writes of the current turn of the event loop in one system call. With hundreds of streams many appends fall
 * into one turn, and a system call for each costs a third of a worker's time. Unlike in a pipeline, each command gets
 * its own reply, so none waits for another.
 */
export function corkWrites(redis: RedisConnection): () => void {
  return () => {
    if ('nodes' in redis) for (const node of redis.nodes('master')) cork(socketOf(node));
    else cork(socketOf(redis));
  };
}

function cork(socket: Duplex | undefined): void {
  if (socket === undefined || corked.has(socket)) return;
  corked.add(socket);
  socket.cork();
  setImmediate(() => {
    corked.delete(socket);
    socket.uncork();
  });
}

/** The socket is private in ioredis; if it is missing, writes are sent one by one. */
function socketOf(redis: object): Duplex | undefined {
  return (redis as { stream?: Duplex | null }).stream ?? undefined;
}

/**
 * Arguments: commands with their arguments, as JSON. A Redis without this check lacks none.
 *
 * @returns the positions of the commands that the user lacks
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

/**
 * Runs scripts by their hash; the code is sent if a new or flushed server lacks it.
 *
 * @param send handles temporary refusals; a repeated request is recognised by its own writes
 * @param rights checked before the first script, so that none fails halfway
 */
export function createEvaluate(
  redis: RedisConnection,
  send: Send = sendOnce,
  rights: readonly Right[] = [],
): Evaluate {
  let isChecked = false;
  let checking: Promise<void> | undefined;

  function evaluate({ sha, code }: Script, keys: readonly string[], args: readonly string[]) {
    const input = [keys.length, ...keys, ...args] as const;
    return redis.evalsha(sha, ...input).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.eval(code, ...input);
    });
  }

  async function checkRights(): Promise<void> {
    const key = rights[0]?.[1];
    if (key === undefined) return;
    const commands = rights.map((right) => JSON.stringify(right));
    const lacking = (await evaluate(LACKING, [key], commands)) as number[];
    if (lacking.length > 0) throw missingRights(lacking.map((n) => rights[n - 1]?.[0]).join(', '));
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

  async function refuse(error: unknown): Promise<never> {
    if (!isLackOfRights(error)) throw toContractError(error);
    // A right was withdrawn meanwhile: report which one, and start nothing else without it.
    isChecked = false;
    const lack: unknown = await send(check).catch((found: unknown) => found);
    throw toContractError(lack ?? error);
  }

  return (called, keys, args) => {
    const run = (): Promise<unknown> => evaluate(called, keys, args);
    return send(() => (isChecked ? run() : check().then(run))).catch(refuse);
  };
}
