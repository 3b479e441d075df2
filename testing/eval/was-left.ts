import type { PendingQuestion } from '../../protocol/replies.js';
import { SETTLED_TEXTS } from '../../session/settling.js';
import type { RecordedCall } from './case.js';

/**
 * Error texts of calls that nobody answered because a message came or the run was stopped. Cases contain
 * these texts instead of codes.
 */
const LEFT: ReadonlySet<string> = new Set([
  SETTLED_TEXTS.client_tool_abandoned,
  SETTLED_TEXTS.run_stopped,
]);

/** Returns true if people did not answer the recorded call: it is still open or was abandoned. Pure. */
export function wasLeft(
  { decision, result }: RecordedCall,
  kind: PendingQuestion['kind'],
): boolean {
  if (result === undefined) return true;
  if (kind === 'approval' && decision !== undefined) return false;
  return 'error' in result && LEFT.has(result.error);
}
