import type { PendingQuestion } from '../../protocol/http.js';
import { SETTLED_TEXTS } from '../../session/settling.js';
import type { RecordedCall } from './case.js';

/**
 * What a transcript says of calls that no one answered: another message came, or the run was stopped. A
 * case has these texts, and no codes.
 */
const LEFT: ReadonlySet<string> = new Set([
  SETTLED_TEXTS.client_tool_abandoned,
  SETTLED_TEXTS.run_stopped,
]);

/** True if people were asked then and did not answer: it is open still, or was left behind. Pure. */
export function wasLeft(
  { decision, result }: RecordedCall,
  kind: PendingQuestion['kind'],
): boolean {
  if (result === undefined) return true;
  if (kind === 'approval' && decision !== undefined) return false;
  return 'error' in result && LEFT.has(result.error);
}
