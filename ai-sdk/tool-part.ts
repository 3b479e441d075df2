import type { AssistantPart, Decision, ToolRow } from '../protocol/rows.js';
import type { OpenCall } from '../stores/session-store.js';
import type { UIApproval, UIToolPart } from './ui-message.js';

/** Codes of calls that were settled without being executed: no approval of theirs was used. */
const NOT_EXECUTED = new Set([
  'run_stopped',
  'run_failed',
  'client_tool_abandoned',
  'client_tool_failed',
]);

export interface StoredCall {
  call: Extract<AssistantPart, { type: 'tool-call' }>;
  approvalId: string;
  result: ToolRow | undefined;
  /** Present while no later step has taken the call in. */
  open: OpenCall | undefined;
  /** Another call of its step waits for a person. */
  isBesideOpen: boolean;
}

/** A stored call as the part that the live stream leaves in a client's message. */
export function toToolPart({
  call,
  approvalId,
  result,
  open,
  isBesideOpen,
}: StoredCall): UIToolPart {
  const { toolName, toolCallId, kind } = call;
  const part: UIToolPart = {
    type: 'dynamic-tool',
    toolName,
    toolCallId,
    state: 'input-available',
    input: call.input ?? null,
    ...((kind === 'server' || kind === 'subagent') && { providerExecuted: true }),
  };
  const decision = result?.decision ?? open?.decision;
  if (result !== undefined) {
    const approval = kind === 'approval' && toUsedApproval(approvalId, decision, result);
    const outcome = toOutcome(result);
    // Stock pages do not send the answers of a step in which one has an outcome that is no output.
    if (approval && isBesideOpen && result.denied === true) outcome.state = 'approval-responded';
    return { ...part, ...outcome, ...(approval && { approval }) };
  }
  if (kind !== 'approval' || open === undefined) return part;
  if (decision !== undefined) {
    return { ...part, state: 'approval-responded', approval: toApproval(approvalId, decision) };
  }
  if (open.state !== 'waiting') return part;
  return { ...part, state: 'approval-requested', approval: { id: approvalId } };
}

function toOutcome(result: ToolRow): Pick<UIToolPart, 'state' | 'output' | 'errorText'> {
  if (result.denied === true) return { state: 'output-denied' };
  if (result.error !== undefined) return { state: 'output-error', errorText: result.error };
  return { state: 'output-available', output: result.output ?? null };
}

/**
 * The decision that led to the result. Without one the part has no approval: clients' validators
 * refuse a settled part whose approval was never answered.
 */
function toUsedApproval(
  id: string,
  decision: Decision | undefined,
  result: ToolRow,
): UIApproval | undefined {
  if (decision !== undefined) return toApproval(id, decision);
  if (result.denied === true) return { id, approved: false };
  return NOT_EXECUTED.has(result.errorCode ?? '') ? undefined : { id, approved: true };
}

/** Who changed the input is told with what they changed it to; the part's own input is the model's. */
function toApproval(id: string, { approved, reason, input, by }: Decision): UIApproval {
  return {
    id,
    approved,
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input, ...(by !== undefined && { by }) }),
  };
}
