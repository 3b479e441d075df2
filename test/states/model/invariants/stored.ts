import type { StreamMessage } from '../../../../protocol/chunk.js';
import type { Row } from '../../../../protocol/rows.js';
import { isTerminal } from '../../../../protocol/run.js';
import type { Call, SessionRecord } from '../../../../session/record.js';
import type { Session } from '../../../../session/tree.js';
import { fieldsOf, treeOf, type Data } from '../record/data.js';
import { ownersIn, SUB } from '../record/facts.js';
import type { Sent } from '../record/play.js';

/** All stored data in the form that invariants read. */
export interface Stored {
  /** Sequence of the newest entry according to the record. */
  sequence: number;
  entries: readonly StoredEntry[];
  /** Absent before the first message. */
  conversation: StoredAgent | undefined;
  sub: StoredAgent | undefined;
  /** Names with an expiry, except the sub-agent's. */
  expiring: readonly string[];
}

export interface StoredEntry {
  sequence: number;
  writer: string;
  message: StreamMessage;
}

export interface StoredAgent {
  sessionId: string;
  record: SessionRecord;
  /** The liveness field that appends read. */
  live: string;
  rows: readonly Row[];
  calls: readonly StoredCall[];
  /** Ids of calls whose results an earlier step has read. */
  takenIn: readonly string[];
  /** Work that continues without people: ids of calls, and `model`. */
  busy: readonly string[];
  owners: ReadonlyMap<string, number>;
  /** Names of values stored per call, queued message or note, outside the record. */
  beside: readonly string[];
  /** Names of values that are kept while a run is active. */
  kept: readonly string[];
  ended: readonly string[];
  messages: readonly string[];
  isOver: boolean;
}

/** A call with its stored texts. */
export interface StoredCall extends Call {
  row: string | undefined;
  decision: string | undefined;
  ask: string | undefined;
}

/** Caches data that was read: one request's result is the next one's start. */
const read = new WeakMap<Data, Stored>();

export function readStored(data: Data): Stored {
  let stored = read.get(data);
  if (stored === undefined) {
    const tree = treeOf(data);
    stored = {
      sequence: data.sequence,
      entries: data.log.map(([sequence, writer, message]) => {
        return { sequence, writer, message: parse(message) as StreamMessage };
      }),
      conversation: readAgent(data, tree.conversation),
      sub: readAgent(data, tree.session(SUB)),
      expiring: [...data.expiring].filter((at) => at.startsWith(':')),
    };
    read.set(data, stored);
  }
  return stored;
}

function readAgent(data: Data, session: Session): StoredAgent | undefined {
  const { part, record, content } = session;
  if (record?.agent === undefined) return undefined;
  const calls = session.openCalls();
  const namesIn = (place: string, prefix = ''): string[] =>
    [...(fieldsOf(data, part, place)?.keys() ?? [])].flatMap((name) =>
      name.startsWith(prefix) ? name.slice(prefix.length) : [],
    );
  const busy = calls.filter(({ isBusy }) => isBusy === true).map(({ id }) => id);
  return {
    sessionId: session.id,
    record,
    live: fieldsOf(data, part, 'record')?.get('live') ?? '',
    rows: (data.rows.get(part) ?? []).map((row) => parse(row) as Row),
    calls: calls.map((call) => ({
      ...call,
      row: content.get(`row:${call.id}`),
      decision: content.get(`decision:${call.id}`),
      ask: content.get(`ask:${call.id}`),
    })),
    takenIn: namesIn('index', 's:'),
    busy: [...busy, ...(record.run.hasModel ? ['model'] : [])],
    owners: new Map(ownersIn(data, part)),
    beside: [
      ...namesIn('record').filter((name) => name.startsWith('call:')),
      ...namesIn('content'),
    ],
    kept: namesIn('writers'),
    ended: namesIn('runs'),
    messages: namesIn('index', 'm:'),
    isOver: isTerminal(record.run.status),
  };
}

/** Caches parsed texts, since most records share the same few. */
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

/** A condition that holds after every request. */
export interface Invariant {
  /** Number of the promise and its statement, for violations. */
  rule: string;
  /** Returns a description of the violation; undefined if there is none. */
  find: (after: Stored, before: Stored, sent: Sent) => string | undefined;
}

export function invariant(promise: `P${number}`, rule: string, find: Invariant['find']): Invariant {
  return { rule: `${promise}, ${rule}`, find };
}

export function first<T>(
  items: readonly T[],
  find: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
