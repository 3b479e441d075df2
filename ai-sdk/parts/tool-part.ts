import type { AssistantPart, Decision, ToolRow } from '../../protocol/rows.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { UIApproval, UIToolPart, UIToolState } from './ui-message.js';

/** Codes of calls that were settled without being executed; their approvals were not used. */
const NOT_EXECUTED = new Set([
  'run_stopped',
  'run_failed',
  'client_tool_abandoned',
  'client_tool_failed',
]);

/** Kinds of calls that ask no person. */
const SERVER_RUN = new Set<string>(['server', 'subagent', 'provider']);

export interface StoredCall {
  call: Extract<AssistantPart, { type: 'tool-call' }>;
  approvalId: string;
  result: ToolRow | undefined;
  /** Present until a later step includes the call. */
  open: OpenCall | undefined;
  /** True if another call of the step waits for a person. */
  isBesideOpen: boolean;
}

/** Converts a stored call into the part that the live stream leaves in a client's message. */
export function toToolPart(stored: StoredCall): UIToolPart {
  const { toolName, toolCallId, kind, input, byClient } = stored.call;
  return {
    ...(byClient === true
      ? { type: `tool-${toolName}` as const }
      : { type: 'dynamic-tool', toolName }),
    toolCallId,
    input: input ?? null,
    providerExecuted: SERVER_RUN.has(kind) || undefined,
    ...toState(stored),
  };
}

function toState({ call, approvalId, result, open, isBesideOpen }: StoredCall): UIToolState {
  const isApproval = call.kind === 'approval';
  const decision = result?.decision ?? open?.decision;
  if (result !== undefined) {
    const outcome = toOutcome(result, isApproval, approvalId, decision);
    if (!isBesideOpen || outcome.state !== 'output-denied') return outcome;
    // Stock pages do not send the answers of a step that holds a denied call.
    return { state: 'approval-responded', approval: outcome.approval };
  }
  if (!isApproval || open === undefined) return { state: 'input-available' };
  if (decision !== undefined) {
    return { state: 'approval-responded', approval: toApproval(approvalId, decision) };
  }
  if (open.state !== 'waiting' || open.mayDecide === false) return { state: 'input-available' };
  // A stock page would answer for the model's input, not for the edited one.
  if (open.spec.edited !== undefined) return { state: 'input-available' };
  return { state: 'approval-requested', approval: { id: approvalId } };
}

/**
 * Returns the result with the decision that led to it. Without a decision the part has no approval:
 * clients' validators reject a settled part whose approval was never answered.
 */
function toOutcome(
  result: ToolRow,
  isApproval: boolean,
  id: string,
  decision: Decision | undefined,
): UIToolState {
  if (result.denied === true) {
    return { state: 'output-denied', approval: { ...toApproval(id, decision), approved: false } };
  }
  const isUsed = decision?.approved ?? !NOT_EXECUTED.has(result.errorCode ?? '');
  const approval = isApproval &&
    isUsed && { approval: { ...toApproval(id, decision), approved: true as const } };
  if (result.error !== undefined) {
    return { state: 'output-error', errorText: result.error, ...approval };
  }
  return { state: 'output-available', output: result.output ?? null, ...approval };
}

/** Adds a changed input and the person who changed it; the part's own input stays the model's. */
function toApproval(id: string, decision: Decision | undefined): UIApproval {
  const { approved = true, reason, input, by, inputBy = by } = decision ?? {};
  return { id, approved, reason, input, by: input === undefined ? undefined : inputBy };
}
