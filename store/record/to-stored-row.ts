import type { Row, ToolRow } from '../../protocol/rows.js';
import { toStoredJson } from './to-stored-json.js';

/** A row whose large output is kept apart. */
type RowByReference = Omit<ToolRow, 'output'> & { outputRef: string };

/**
 * A row as it is stored: what changes read of it stands in front, what may be large behind it
 * (session/messages).
 *
 * @throws HelixError `validation_error`, see toStoredJson
 */
export function toStoredRow(row: Row | RowByReference): string {
  if (row.role === 'user') {
    const { role, id, hidden = false, parts, ...rest } = row;
    // A page's value is in its part.
    const around = rest.data === undefined ? 1 : 3;
    return toStoredJson({ role, id, hidden, parts, ...rest }, { around });
  }
  if (row.role === 'tool') return toStoredToolRow(row);
  const { role, messageId, runId, step, display, parts, ...rest } = row;
  return toStoredJson({ role, messageId, runId, step, display, parts, ...rest }, { around: 3 });
}

function toStoredToolRow(row: ToolRow | RowByReference): string {
  const { role, toolCallId, toolName, display, error, denied, decision, events, ...rest } = row;
  const head = { role, toolCallId, toolName, display };
  // The input is in the decision, a value in its event.
  const around = events !== undefined ? 4 : decision !== undefined ? 2 : 1;
  return toStoredJson({ ...head, ...rest, error, denied, decision, events }, { around });
}
