import type { StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { CallKind } from '../../protocol/run.js';
import type { Keyspace } from '../../stores/memory/keyspace.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { toMessage } from '../../stores/redis/short-deltas.js';
import { jsonOf } from '../../stores/transitions/lib/entries.js';

/** A session as it is stored, read at once: what tests look at that decide by more than a record. */
export interface StoredSession {
  root: Record<string, string | undefined>;
  rows: Row[];
  /** Calls of the newest committed step, in their order. */
  calls: StoredCall[];
  /** How many entries wait. */
  queued: number;
  /** How many runs have ended. */
  endedRuns: number;
  log: StreamMessage[];
}

export interface StoredCall {
  toolCallId: string;
  kind: CallKind;
  state: string;
  /** ms since the epoch. */
  deadline: number | undefined;
}

const KEYS = createKeySpace();

export function readStored(keyspace: Keyspace, sessionId: string): StoredSession | undefined {
  const keys = KEYS.session(sessionId);
  const hash = (key: string): Record<string, string> => {
    const flat = keyspace.call('HGETALL', key) as string[];
    return Object.fromEntries(
      flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])),
    ) as Record<string, string>;
  };
  const list = (key: string): string[] => keyspace.call('LRANGE', key, 0, -1) as string[];
  const root = hash(keys.root);
  if (root['agent'] === undefined) return undefined;
  const calls = hash(keys.calls);
  const entries = keyspace.call('XRANGE', keys.stream, '-', '+') as [string, string[]][];
  return {
    root,
    rows: list(keys.rows).map((row) => JSON.parse(row) as Row),
    calls: list(keys.order).map((toolCallId) => ({
      toolCallId,
      kind: calls[`kind:${toolCallId}`] as CallKind,
      state: calls[`state:${toolCallId}`] ?? '',
      deadline: toTime(calls[`deadline:${toolCallId}`]),
    })),
    queued: list(keys.queue).length,
    endedRuns: keyspace.call('HLEN', keys.runs) as number,
    log: entries.map(([, fields]) => parse(jsonOf(fields), rootOf(sessionId))),
  };
}

function toTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function parse(json: string, conversationId: string): StreamMessage {
  const message = toMessage(JSON.parse(json), conversationId);
  if (message === undefined) throw new Error(`no message: ${json}`);
  return message;
}
