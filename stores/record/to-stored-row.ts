import type { Row, ToolRow } from '../../protocol/rows.js';
import { toStoredJson } from './to-stored-json.js';

/**
 * A row as it is stored: what transitions read of it stands in front, what may be large behind it
 * (transitions/lib/rows).
 */
export function toStoredRow(row: Row | (Omit<ToolRow, 'output'> & { outputRef: string })): string {
  if (row.role === 'user') {
    const { role, id, hidden = false, ...rest } = row;
    return toStoredJson({ role, id, hidden, ...rest });
  }
  if (row.role === 'tool') {
    const { role, toolCallId, toolName, display, ...rest } = row;
    return toStoredJson({ role, toolCallId, toolName, display, ...rest });
  }
  const { role, messageId, runId, step, display, parts, ...rest } = row;
  return toStoredJson({ role, messageId, runId, step, display, parts, ...rest });
}
