import type { StreamMessage } from '../../protocol/chunk.js';
import type { Row } from '../../protocol/rows.js';
import { fromJson, toJson, type Json } from './json.js';
import type { MemorySession } from './session.js';

/** What the newest attempt of a call has said, in order. */
export function saidByCall(
  session: MemorySession,
  toolCallId: string,
): { sequence: number; message: StreamMessage }[] {
  const name = `t:${toolCallId}`;
  const owned = session.writers.get(name);
  if (owned === undefined) return [];
  return session.log.entries
    .filter(({ sequence, writer }) => writer === name && sequence > owned.first)
    .map(({ sequence, message }) => ({ sequence, message: fromJson(message) }));
}

/** A row with what its call said beside its result: history shows that, too. */
export function withEvents(session: MemorySession, toolCallId: string, row: Json<Row>): Json<Row> {
  const events = saidByCall(session, toolCallId).flatMap(({ sequence, message: chunk }) =>
    chunk.type === 'custom' && chunk.transient !== true ? [{ sequence, chunk }] : [],
  );
  return events.length === 0 ? row : toJson<Row>({ ...fromJson(row), events } as Row);
}
