import { formatApprovalId } from '../../protocol/ids.js';
import { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { SessionCalls } from '../../stores/contract/sessions.js';

/**
 * Answers of a protocol that has one kind of tool result, as a chat client would post them. Whether a call
 * is an approval is read from the server's record; only `{"approved": true}` or `{"approved": false}`
 * answers one. Pure.
 *
 * @param answers text by call
 * @throws HelixError `kind_mismatch` for an approval that is answered with anything else
 */
export function toPostedAnswers(
  answers: ReadonlyMap<string, string>,
  session: SessionCalls | undefined,
): PostedMessage[] {
  if (answers.size === 0 || session === undefined) return [];
  const { record, openCalls } = session;
  const calls = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec]));
  const parts = [...answers].map(([toolCallId, text]) => {
    const { kind, approvalId } = calls.get(toolCallId) ?? {};
    const decision = kind === 'client' ? undefined : readDecision(text);
    const base = { type: 'dynamic-tool', toolCallId };
    if (decision === undefined) {
      if (kind === 'approval') throw notADecision();
      return { ...base, state: 'output-available', output: toOutput(text) };
    }
    const id = approvalId ?? formatApprovalId(record.runId, toolCallId);
    return { ...base, state: 'approval-responded', approval: { id, ...decision } };
  });
  // The step mark keeps the calls together, as those of one step are.
  return [{ id: record.messageId, role: 'assistant', parts: [{ type: 'step-start' }, ...parts] }];
}

function readDecision(text: string): { approved: boolean; reason?: string } | undefined {
  const value = toOutput(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { approved, reason } = value as { approved?: unknown; reason?: unknown };
  if (typeof approved !== 'boolean') return undefined;
  return { approved, ...(typeof reason === 'string' && { reason }) };
}

/** A result that is JSON is that value, any other one its text. */
function toOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function notADecision(): HelixError {
  return new HelixError(
    'kind_mismatch',
    'This call waits for an approval: answer {"approved": true} or {"approved": false, "reason": "…"}.',
  );
}
