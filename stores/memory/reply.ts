import type { Row } from '../../protocol/rows.js';
import { toJson } from './json.js';
import type { MemoryRun, MemorySession } from './session.js';

/** Adds a reply's row; the first one of a turn makes a new visible message. */
export function pushReply(session: MemorySession, run: MemoryRun, row: Row): void {
  session.rows.push(toJson(row));
  if (run.hasReplied) return;
  run.hasReplied = true;
  session.visibleMessages += 1;
}
