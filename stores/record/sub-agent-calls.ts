import { formatApprovalId } from '../../protocol/ids.js';
import type { ChildRef } from '../../protocol/run.js';
import type { AssistantPart, UserRow } from '../../protocol/rows.js';
import type { NewCall, WaitCall } from '../contract/call-record.js';

/** What stores keep of calls beside their specs. Pure. */

/** The message that a sub-agent's run begins with. */
export function toBriefRow(
  toolCallId: string,
  { message }: NonNullable<NewCall['child']>,
): UserRow {
  return { role: 'user', id: toolCallId, parts: [{ type: 'text', text: message }] };
}

export function toChildRef(child: NonNullable<NewCall['child']>): ChildRef {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  return { sessionId, runId, agent, maxSteps, hasOutput, activities };
}

/** A call that was kept back, as the conversation's history shows it. */
export function toShownPart(call: NewCall | WaitCall, runId: string): AssistantPart {
  const { toolCallId, toolName, input, kind } = call;
  const { ask } = call as NewCall;
  if (kind === 'timer' || kind === 'webhook') throw new Error('no person is shown such a wait');
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    kind,
    ...(kind === 'approval' && { approvalId: formatApprovalId(runId, toolCallId) }),
    ...(ask?.type === 'tool_start' && ask.byClient === true && { byClient: true }),
  };
}
