import type { AgUiInterrupt, AgUiOutcome } from '../../protocol/ag-ui.js';
import type { PendingQuestion } from '../../protocol/http.js';

const DECISION = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/**
 * How a run ends for an AG-UI client: approvals interrupt it, calls of client tools are left to the
 * client. Pure.
 */
export function toOutcome(reason: string, pending: readonly PendingQuestion[]): AgUiOutcome {
  const interrupts = pending.flatMap(toInterrupt);
  if (interrupts.length > 0) return { type: 'interrupt', interrupts };
  if (pending.length > 0) {
    return { type: 'success', pendingToolCallIds: pending.map(({ toolCallId }) => toolCallId) };
  }
  return { type: reason === 'other' ? 'cancelled' : 'success' };
}

function toInterrupt(question: PendingQuestion): AgUiInterrupt[] {
  const { approvalId, kind, toolCallId, toolName, deadline } = question;
  if (kind !== 'approval' || approvalId === undefined) return [];
  return [
    {
      id: approvalId,
      reason: 'tool_approval',
      message: `May ${toolName} be carried out?`,
      toolCallId,
      responseSchema: DECISION,
      ...(deadline !== undefined && { expiresAt: new Date(deadline).toISOString() }),
    },
  ];
}
