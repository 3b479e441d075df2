import type { StreamMessage } from '../../../../protocol/chunk.js';
import type { Row } from '../../../../protocol/rows.js';
import { isTerminal } from '../../../../protocol/run.js';
import type { Call, SessionRecord } from '../../../../session/record.js';
import type { Session } from '../../../../session/tree.js';
import { fieldsOf, treeOf, type Data } from '../record/data.js';
import { ownersIn, SUB } from '../record/facts.js';

/** All that is stored, as invariants read it. */
export interface Stored {
  /** Of the newest entry, as the record has it. */
  sequence: number;
  entries: readonly StoredEntry[];
  /** Undefined before the first message. */
  conversation: StoredAgent | undefined;
  sub: StoredAgent | undefined;
  /** What expires; the sub-agent's is not among it. */
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
  /** What appends look at. */
  live: string;
  rows: readonly Row[];
  calls: readonly StoredCall[];
  /** Ids of calls that an earlier step has taken in. */
  takenIn: readonly string[];
  /** What can continue without people: ids of calls, and `model`. */
  busy: readonly string[];
  /** Tokens by name. */
  owners: ReadonlyMap<string, number>;
  /** Names of what stands beside the record by the id of a call, a queued message or a note. */
  beside: readonly string[];
  /** Names of all that is kept while a run is active. */
  kept: readonly string[];
  /** Ids of runs that have ended. */
  ended: readonly string[];
  messages: readonly string[];
  isOver: boolean;
}

/** A call with its texts. */
export interface StoredCall extends Call {
  row: string | undefined;
  decision: string | undefined;
  ask: string | undefined;
}

/** Each is read once: the result of one request is the start of the next. */
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
