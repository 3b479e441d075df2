import type { AgentDefinition } from '../../agents/definitions.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { AssistantPart, Row } from '../../protocol/rows.js';
import type { CallRef, StepOutcome } from '../../protocol/run.js';
import type { NewCall } from '../../stores/contract/call-record.js';
import type { CommitInput } from '../../stores/contract/steps.js';
import { isQuestion } from '../../stores/record/questions.js';
import { toChildRef } from '../../stores/record/sub-agent-calls.js';
import { activityOf } from '../tool/own-activity.js';
import type { OpenedCall } from './proposed-calls.js';
import type { ProposedCall, StepReply } from './reply-types.js';

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

export function toRef(agent: AgentDefinition, call: NewCall, runId: string): CallRef {
  const { toolCallId, toolName, kind, timeoutMs, deadlineMs, child, input } = call;
  return {
    toolCallId,
    toolName,
    kind,
    ...(isQuestion(call) && {
      approvalId: formatApprovalId(runId, toolCallId),
      inputHash: hashInput(input),
    }),
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
    if (call === undefined && part.kind === 'provider') return [part];
    // Arguments that were streamed without ever becoming a call.
    if (call === undefined) return [];
    const { toolName, kind, input } = call;
    return [
      {
        ...part,
        // A call that was repaired may be for another tool.
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

/** True while a call of the turn waits for a result that its provider gives in a later reply. */
export function awaitsProvider(
  { tools }: AgentDefinition,
  parts: readonly AssistantPart[],
  rows: readonly Row[] = [],
): boolean {
  const defers = new Set(tools.flatMap(({ name, provider }) => (provider?.defers ? [name] : [])));
  if (defers.size === 0) return false;
  const start = rows.findLastIndex(({ role }) => role === 'user') + 1;
  const before = rows.slice(start).flatMap((row) => (row.role === 'assistant' ? row.parts : []));
  const waiting = new Set<string>();
  for (const part of [...before, ...parts]) {
    if (part.type === 'tool-result') waiting.delete(part.toolCallId);
    if (part.type !== 'tool-call' || part.kind !== 'provider') continue;
    if (defers.has(part.toolName)) waiting.add(part.toolCallId);
  }
  return waiting.size > 0;
}
