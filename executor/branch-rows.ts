import type { Row } from '../protocol/rows.js';
import type { BranchInput } from '../stores/contract/sessions.js';

/** Which part of a transcript a copy takes. Pure. */

/** Number of rows up to and including a message, by its index among those that people see. */
export function endOfMessage(rows: readonly Row[], index: number): number | undefined {
  const replies = new Set<string>();
  let at = -1;
  let end = rows.length;
  for (const [n, row] of rows.entries()) {
    if (!beginsMessage(row, replies)) continue;
    at += 1;
    if (at > index) {
      end = n;
      break;
    }
  }
  if (at < index) return undefined;
  // What only the model was to be told belongs to the message behind it.
  while (isHidden(rows[end - 1])) end -= 1;
  return end;
}

/** Number of rows up to and including the results of a committed step. */
export function endOfStep(rows: readonly Row[], messageCount: number): number {
  let end = messageCount;
  for (;;) {
    const row = rows[end];
    const isResult = row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
    if (!isResult) return end;
    end += 1;
  }
}

/** The rows without a last step whose calls have no results yet. */
export function withoutOpenCalls(rows: readonly Row[]): readonly Row[] {
  const settled = new Set(rows.flatMap((row) => (row.role === 'tool' ? row.toolCallId : [])));
  const at = rows.findLastIndex(({ role }) => role === 'assistant');
  const last = rows[at];
  const isOpen =
    last?.role === 'assistant' &&
    last.parts.some((part) => part.type === 'tool-call' && !settled.has(part.toolCallId));
  return isOpen ? withoutOpenCalls(rows.slice(0, at)) : rows;
}

/** Where the newest turn of these rows stands, and how many messages people see. */
export function describeRows(rows: readonly Row[]): Pick<BranchInput, 'turn' | 'visibleMessages'> {
  const replies = new Set<string>();
  const visibleMessages = rows.filter((row) => beginsMessage(row, replies)).length;
  const begins = rows.flatMap((row, n) => (isSpoken(row) && !isSpoken(rows[n - 1]) ? n : []));
  const row = begins.at(-1) ?? 0;
  const last = rows.slice(row).findLast((said) => said.role === 'assistant');
  const messageId = last?.messageId ?? `msg-${String(visibleMessages)}`;
  const turn = Math.max(1, begins.length);
  return {
    turn: { turn, row, messageId, step: last?.step ?? 0, hasReplied: last !== undefined },
    visibleMessages,
  };
}

function beginsMessage(row: Row, replies: Set<string>): boolean {
  if (row.role === 'tool') return false;
  if (row.role === 'user') return row.hidden !== true;
  const isNew = !replies.has(row.messageId);
  replies.add(row.messageId);
  return isNew;
}

function isHidden(row: Row | undefined): boolean {
  return row?.role === 'user' && row.hidden === true;
}

/** Notices of late answers are no person's messages. */
function isSpoken(row: Row | undefined): boolean {
  return row?.role === 'user' && !(row.hidden === true && row.id.startsWith('late-'));
}
