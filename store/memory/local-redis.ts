import type { Atomic } from '../redis/atomic.js';
import { toCommands } from '../redis/backend.js';
import { SINGLE, type Commands } from '../redis/commands.js';
import { decideAppend } from './append.js';
import type { Keyspace, Reply } from './keyspace.js';

/** Expired keys that are never read are dropped this often. */
const SWEEP_MS = 60_000;
/** Reads of several values, see LOAD. Without trips over a network, they save nothing. */
const SEVERAL = ['CALLS', 'ROWS', 'STATE'];

/** Does on an in-process keyspace what Redis does in scripts. Nothing runs between its commands either. */
export function createLocalAtomic({ call }: Pick<Keyspace, 'call'>): Atomic {
  let sweptAt = 0;
  const sweep = (): void => {
    const [seconds] = call('TIME') as [string, string];
    const now = Number(seconds) * 1_000;
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    // DBSIZE drops expired keys.
    call('DBSIZE');
  };
  return {
    load: async ([root = '', files = ''], commands) => {
      sweep();
      const at = call('HMGET', root, 'v', 'seq', 'logBytes');
      const replies = commands.map(([name = '', ...args]) =>
        SEVERAL.includes(name) ? null : call(name, ...args),
      );
      return [at, call('HGET', files, 'changes'), call('TIME'), replies];
    },
    append: async (keys, args) => append(call, keys, args),
    writeIf: async (checks, writes) => {
      const holds = checks.every(([reply, ...read]) => textOf(call(...read)) === reply);
      if (holds) for (const [name, ...args] of writes) call(name, ...args);
      return holds;
    },
  };
}

function textOf(reply: unknown): string {
  return typeof reply === 'string' ? reply : '';
}

function textsOf(reply: unknown): string[] {
  return (reply as unknown[]).map(textOf);
}

/** See APPEND. */
function append(
  call: Keyspace['call'],
  [own = '', writers = '', record = '', log = '', channel = '']: readonly string[],
  args: readonly string[],
): number[] {
  const fields = ['t', 'b', 'e'].map((kind) => `${kind}:${args[1] ?? ''}`);
  const [owner = '', batch = '', notes = ''] = textsOf(call('HMGET', writers, ...fields));
  const [seq, size] = textsOf(call('HMGET', record, 'seq', 'logBytes'));
  const at = { sequence: Number(seq), logBytes: Number(size) };
  const found = { live: textOf(call('HGET', own, 'live')), owner, batch, notes, ...at };
  const { reply, writes, sequence, logBytes } = decideAppend('', found, args);
  if (writes.length > 0) call('HSET', record, 'seq', sequence, 'logBytes', logBytes);
  const keys: Record<string, string> = { record, writers, log, channel };
  for (const [name, ...rest] of toCommands((_, place) => keys[place] ?? '', writes))
    call(name, ...rest);
  return reply;
}

type Arguments = (string | number)[];

/** Commands on an in-process keyspace, with replies in the form of a Redis client. */
export function createLocalCommands(keyspace: Keyspace): Commands {
  const call = (name: string, ...args: Arguments): unknown => {
    if (name === 'info') return '';
    const reply = keyspace.call(name.toUpperCase(), ...args);
    return name === 'hgetall' ? toRecord(reply) : reply;
  };
  const single = SINGLE.map((name) => [name, async (...args: Arguments) => call(name, ...args)]);
  return {
    ...(Object.fromEntries(single) as Omit<Commands, 'together'>),
    // Nothing can run between these reads.
    together: async (...reads) => reads.map((read) => call(...read)),
  };
}

function toRecord(reply: Reply): Record<string, string> {
  const flat = reply as string[];
  const fields = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]] as const] : []));
  return Object.fromEntries(fields) as Record<string, string>;
}
