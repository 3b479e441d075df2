import { APPEND, LOAD, toCommands } from '../redis/backend.js';
import type { Evaluate } from '../redis/scripts.js';
import { SINGLE, type Commands } from '../redis/commands.js';
import { decideAppend } from './append.js';
import type { Keyspace, Reply } from './keyspace.js';

/** Expired keys that are never read are dropped this often. */
const SWEEP_MS = 60_000;

/** Runs the store's scripts on an in-process keyspace, where nothing runs between their commands either. */
export function evaluateOn(keyspace: Pick<Keyspace, 'call'>): Evaluate {
  const { call } = keyspace;
  let sweptAt = 0;
  const sweep = (): void => {
    const [seconds] = call('TIME') as [string, string];
    const now = Number(seconds) * 1_000;
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    // DBSIZE drops expired keys.
    call('DBSIZE');
  };
  // These three: see LOAD.
  const calls = ([most, record = '', content = '', ...kinds]: string[]): Reply => {
    const order = call('HGET', record, 'order');
    const ids = order === null ? [] : (JSON.parse(String(order)) as string[]);
    if (ids.length > Number(most)) return [order];
    const of = (hash: string, kind: string): Reply =>
      ids.length === 0 ? [] : call('HMGET', hash, ...ids.map((id) => `${kind}:${id}`));
    return [order, of(record, 'call'), ...kinds.map((kind) => of(content, kind))];
  };
  const rows = ([most, key = '', from = '']: string[]): Reply => {
    const count = Number(call('LLEN', key));
    return count - Number(from) > Number(most) ? [count] : [count, call('LRANGE', key, from, '-1')];
  };
  const state = ([key = '', content = '']: string[]): Reply => {
    const record = call('HGET', key, 'record');
    if (record === null) return [];
    const { state: own } = JSON.parse(String(record)) as { state?: { version: number } };
    if (own === undefined) return [];
    const name = `v:${String(own.version)}`;
    return [name, call('HGET', content, name)];
  };
  const own: Partial<Record<string, (args: string[]) => Reply>> = {
    CALLS: calls,
    ROWS: rows,
    STATE: state,
  };
  const each = (args: readonly string[], from: number): Reply[] => {
    const replies: Reply[] = [];
    for (let at = from; at < args.length;) {
      const words = Number(args[at]);
      const [name = '', ...rest] = args.slice(at + 1, at + 1 + words);
      replies.push(own[name]?.(rest) ?? call(name, ...rest));
      at += 1 + words;
    }
    return replies;
  };
  /** See WRITE_IF. */
  const writeIf = ([done = '', checks, ...args]: readonly string[]): number => {
    let at = 0;
    for (let check = 1; check <= Number(checks); check += 1) {
      const next = at + 2 + Number(args[at + 1]);
      const [name = '', ...rest] = args.slice(at + 2, next);
      const reply = textOf(call(name, ...rest));
      if (check === 1 && done !== '' && reply === done) return 1;
      if (reply !== args[at]) return 0;
      at = next;
    }
    each(args, at);
    return 1;
  };
  return async (script, keys, args) => {
    sweep();
    if (script === APPEND) return append(call, keys, args);
    if (script !== LOAD) return writeIf(args);
    const [root = '', files = ''] = keys;
    const at = call('HMGET', root, 'v', 'seq', 'logBytes', 'status');
    return [at, call('HGET', files, 'changes'), call('TIME'), each(args, 0)];
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
    // Redis receives UTF-8, which cannot encode lone surrogates.
    const texts = args.map((each) => String(each).toWellFormed());
    const reply = keyspace.call(name.toUpperCase(), ...texts);
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
