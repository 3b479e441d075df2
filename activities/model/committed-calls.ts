import type { AgentDefinition } from '../../agents/definitions.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { AssistantPart } from '../../protocol/rows.js';
import type { CallRef, StepOutcome } from '../../protocol/run.js';
import type { NewCall } from '../../stores/contract/call-record.js';
import type { CommitInput } from '../../stores/contract/steps.js';
import { toChildRef } from '../../stores/record/sub-agent-calls.js';
import { activityOf } from '../tool/own-activity.js';
import type { OpenedCall } from './proposed-calls.js';
import type { ProposedCall, StepReply } from './step-reply.js';

export function finalOf(outcome: StepOutcome): Pick<CommitInput, 'final'> {
  if (outcome.kind !== 'ended') return {};
  const { status, error } = outcome;
  return { final: { status, error } };
}

export const isOpen = (call: NewCall): boolean => call.row === undefined;

/** Opened calls in the order in which the model asked for them. */
export function inOrder(
  asked: readonly ProposedCall[],
  opened: readonly OpenedCall[],
): OpenedCall[] {
  const byId = new Map(opened.map((each) => [each.call.toolCallId, each]));
  return asked.flatMap(({ toolCallId }) => byId.get(toolCallId) ?? []);
}

export function toRef(agent: AgentDefinition, call: NewCall): CallRef {
  const { toolCallId, toolName, kind, timeoutMs, deadlineMs, child } = call;
  return {
    toolCallId,
    toolName,
    kind,
    timeoutMs,
    deadlineMs,
    activity: activityOf(agent, toolName),
    ...(child !== undefined && { child: toChildRef(child) }),
  };
}

export type CallPart = Extract<AssistantPart, { type: 'tool-call' }>;

export function isCallPart(part: AssistantPart): part is CallPart {
  return part.type === 'tool-call';
}

/** The fold has the positions of the calls, `calls` have their checked inputs. */
export function withCalls(
  { fold, deferredCalls }: Pick<StepReply, 'fold' | 'deferredCalls'>,
  calls: NewCall[],
  runId: string,
): AssistantPart[] {
  const byId = new Map(calls.map((call) => [call.toolCallId, call]));
  return fold.parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'tool-call') return [part];
    const call = byId.get(part.toolCallId);
    // Arguments that were streamed without ever becoming a call.
    if (call === undefined) return [];
    const { toolName, kind, input } = call;
    return [
      {
        ...part,
        // A call that was mended may be for another tool.
        toolName,
        kind,
        input,
        ...(kind === 'approval' && { approvalId: formatApprovalId(runId, call.toolCallId) }),
        ...(call.ask !== undefined
          ? { held: true }
          : deferredCalls.has(call.toolCallId) && { late: true }),
      },
    ];
  });
}
