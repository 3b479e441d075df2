import { formatApprovalId } from '../../protocol/ids.js';
import type { CallSpec, NewCall, WaitCall } from '../contract/call-record.js';
import type { Writer } from '../contract/log.js';
import { toChildRef } from './sub-agent-calls.js';

/** What is kept of a call that a step opens; the only authority for its execution. Pure. */
export function toCallSpec(
  { runId, step }: Pick<Writer, 'runId' | 'step'>,
  call: NewCall | WaitCall,
): CallSpec {
  const { toolCallId, toolName, kind, input, deadlineMs, onExpiry, decision, approvers } = call;
  const { child, about } = call;
  return {
    toolCallId,
    toolName,
    kind,
    input,
    runId,
    step,
    ...(kind === 'approval' && { approvalId: formatApprovalId(runId, toolCallId) }),
    deadlineMs,
    onExpiry,
    decision,
    approvers,
    ...(child !== undefined && { child: toChildRef(child) }),
    ...('of' in call && { of: call.of }),
    about,
  };
}
