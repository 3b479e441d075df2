import type { StreamMessage } from '../../../../protocol/chunk.js';
import type { Row } from '../../../../protocol/rows.js';
import { isTerminal, type RunStatus } from '../../../../protocol/run.js';
import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import { hashOf } from '../record/facts.js';
import { allCalls, RUNS, SESSION } from '../plan.js';
import { keysOf } from '../requests/request.js';

/** All that a record stores, as invariants read it. */
export interface Stored {
  /** Of the newest entry, as the record has it. */
  sequence: number;
  entries: readonly StoredEntry[];
  /** Undefined before the first message. */
  conversation: StoredAgent | undefined;
  sub: StoredAgent | undefined;
  /** Keys that expire, by the last part of their names; the sub-agent's are not among them. */
  expiring: readonly string[];
}

export interface StoredEntry {
  sequence: number;
  writer: string;
  message: StreamMessage;
}

export interface StoredAgent {
  sessionId: string;
  root: Readonly<Record<string, string | undefined>>;
  rows: readonly Row[];
  calls: readonly StoredCall[];
  /** Ids of calls that an earlier step has taken in. */
  takenIn: readonly string[];
  busy: readonly string[];
  /** Fields as they are. */
  writers: Readonly<Record<string, string | undefined>>;
  /** Ids of runs that have ended. */
  ended: readonly string[];
  messages: readonly string[];
  queued: number;
  isOver: boolean;
}

export interface StoredCall {
  id: string;
  /** Fields by name. */
  field: Readonly<Record<string, string | undefined>>;
}

/** Each keyspace is read once: the result of one transition is the start of the next. */
const read = new WeakMap<Keyspace, Stored>();

export function readStored(keyspace: Keyspace): Stored {
  let stored = read.get(keyspace);
  if (stored === undefined) {
    stored = readAll(keyspace);
    read.set(keyspace, stored);
  }
  return stored;
}

function readAll(keyspace: Keyspace): Stored {
  const keys = keysOf(SESSION);
  const log = keyspace.call('XRANGE', keys.stream, '-', '+') as [string, string[]][];
  const conversation = readAgent(keyspace, SESSION);
  const expiring = keys.all.filter((key) => (keyspace.call('PTTL', key) as number) >= 0);
  return {
    sequence: Number(conversation?.root['seq'] ?? 0),
    entries: log.map(([id, fields]) => ({
      sequence: Number.parseInt(id),
      writer: fields[1] ?? '',
      message: parse(fields[3] ?? '') as StreamMessage,
    })),
    conversation,
    sub: readAgent(keyspace, RUNS.sub.sessionId),
    expiring: expiring.map((key) => key.slice(key.lastIndexOf(':') + 1)),
  };
}

function readAgent(keyspace: Keyspace, sessionId: string): StoredAgent | undefined {
  const keys = keysOf(sessionId);
  const root = hashOf(keyspace, keys.root);
  if (root['agent'] === undefined) return undefined;
  const list = (key: string): string[] => keyspace.call('LRANGE', key, 0, -1) as string[];
  const fields = hashOf(keyspace, keys.calls);
  return {
    sessionId,
    root,
    rows: list(keys.rows).map((row) => parse(row) as Row),
    calls: list(keys.order).map((id) => ({ id, field: fieldsOf(fields, id) })),
    takenIn: membersOf(keyspace, keys.settled),
    busy: membersOf(keyspace, keys.busy),
    writers: hashOf(keyspace, keys.writers),
    ended: keyspace.call('HKEYS', keys.runs) as string[],
    messages: keyspace.call('HKEYS', keys.messages) as string[],
    queued: keyspace.call('LLEN', keys.queue) as number,
    isOver: isTerminal(root['status'] as RunStatus),
  };
}

const WRITERS = ['model', ...allCalls().map(({ id }) => id)];

function membersOf(keyspace: Keyspace, key: string): string[] {
  const members = WRITERS.filter((id) => keyspace.call('SISMEMBER', key, id) === 1);
  const size = keyspace.call('SCARD', key);
  return size === members.length ? members : [...members, 'an unknown member'];
}

function fieldsOf(fields: Record<string, string>, id: string): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name.endsWith(`:${id}`)) own[name.slice(0, -id.length - 1)] = value;
  }
  return own;
}

/** Parsed once each, since the same few texts are stored in most records. */
const parsed = new Map<string, unknown>();

function parse(json: string): unknown {
  let value = parsed.get(json);
  if (value === undefined) {
    value = JSON.parse(json);
    parsed.set(json, value);
  }
  return value;
}

export function agentsOf({ conversation, sub }: Stored): StoredAgent[] {
  return [conversation, sub].filter((agent) => agent !== undefined);
}
