import { HelixError } from '../../protocol/errors.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { OpenCall } from '../../stores/contract/call-record.js';
import type { SessionCalls } from '../../stores/contract/sessions.js';

/** A person's decision about a call. */
export interface Decided {
  approved: boolean;
  reason?: string;
  /** The approval that the client names. Default: that of the call. */
  approvalId?: string;
}

/** Answers by call. */
export interface Answers {
  /** Texts of tool results, or of errors. */
  results: ReadonlyMap<string, { text: string } | { error: string }>;
  decisions: ReadonlyMap<string, Decided>;
}

/**
 * Answers of another protocol as a chat client would post them. What kind of answer a call takes is read
 * from the server's record. Pure.
 *
 * @throws HelixError `kind_mismatch` for an approval that waits and gets a result or an error
 */
export function toPostedAnswers(
  { results, decisions }: Answers,
  session: SessionCalls | undefined,
): PostedMessage[] {
  if (session === undefined || results.size + decisions.size === 0) return [];
  const { record, openCalls } = session;
  const calls = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec]));
  const decided = [...decisions].map(([toolCallId, { approvalId, ...decision }]) => {
    const asked = calls.get(toolCallId)?.approvalId ?? formatApprovalId(record.runId, toolCallId);
    const approval = { id: approvalId ?? asked, ...decision };
    return { type: 'dynamic-tool', toolCallId, state: 'approval-responded', approval };
  });
  const undecided = new Set(openCalls.filter(waitsForDecision).map(({ spec }) => spec.toolCallId));
  const given = [...results].map(([toolCallId, result]) => {
    if (undecided.has(toolCallId)) throw notADecision();
    const base = { type: 'dynamic-tool', toolCallId };
    if ('error' in result) return { ...base, state: 'output-error', errorText: result.error };
    return { ...base, state: 'output-available', output: parseOutput(result.text) };
  });
  // The step mark keeps the calls together, as those of one step are.
  const parts = [{ type: 'step-start' }, ...decided, ...given];
  return [{ id: record.messageId, role: 'assistant', parts }];
}

/** A call that was approved has a result of its own, which clients have in their copy. */
function waitsForDecision({ spec, row, decision }: OpenCall): boolean {
  return spec.kind === 'approval' && row === undefined && decision === undefined;
}

/** A result that is JSON is that value, any other one its text. Pure. */
export function parseOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A decision of the shape `{approved, reason?}`; undefined for anything else. Pure. */
export function readDecision(value: unknown): Decided | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { approved, reason } = value as { approved?: unknown; reason?: unknown };
  if (typeof approved !== 'boolean') return undefined;
  return { approved, ...(typeof reason === 'string' && { reason }) };
}

/** @returns the refusal of an answer that decides nothing */
export function notADecision(): HelixError {
  return new HelixError(
    'kind_mismatch',
    'This call waits for an approval: answer {"approved": true} or {"approved": false, "reason": "…"}.',
  );
}
