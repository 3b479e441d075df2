import type { PendingQuestion } from '../../protocol/replies.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { ToolRow } from '../../protocol/rows.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { OpenCall } from '../contract/call-record.js';
import type { PendingCall, SuspensionContext } from '../contract/calls.js';
import type { SessionCalls } from '../contract/sessions.js';

/** Converts a session's record and calls to the forms of the Helix state store. Pure. */

/** Returns the newest step's calls that people or clients answer, by id. */
export function toPendingCalls(openCalls: readonly OpenCall[]): Record<string, PendingCall> {
  return Object.fromEntries(
    openCalls.flatMap((call) => {
      const pending = toPendingCall(call);
      return pending === undefined ? [] : [[pending.toolCallId, pending]];
    }),
  );
}

function toPendingCall({
  spec,
  row,
  decision,
  deadline,
  held = false,
  mayDecide,
}: OpenCall): PendingCall | undefined {
  const { toolCallId, toolName, kind, input, runId, edited, about, approvers } = spec;
  if (held || (kind !== 'approval' && kind !== 'client')) return undefined;
  const isAnswered = row !== undefined || decision !== undefined;
  return {
    toolCallId,
    toolName,
    kind,
    input,
    runId,
    approvalId: formatApprovalId(runId, toolCallId),
    inputHash: hashInput(input),
    edited,
    deadline,
    ...(mayDecide === false && { mayDecide }),
    about,
    approvers,
    // A call's row is always that of a tool.
    response: isAnswered ? { decision, row: row as ToolRow | undefined } : undefined,
  };
}

/** Returns the reason for which a run is paused; null while it is not paused. */
export function toSuspension({ record, openCalls }: SessionCalls): SuspensionContext | null {
  if (record.stream !== 'paused') return null;
  const asked = openCalls.filter(({ state }) => state === 'waiting');
  const own = openCalls.filter(({ spec }) => spec.runId === record.runId);
  const isPartial = own.some(({ state }) => state === 'settled');
  const isAsking = own.some(({ state }) => state === 'waiting' || state === 'suspended');
  const kind = isPartial ? 'suspended_step_partial' : 'suspended_client_tool';
  return {
    kind: isAsking ? kind : 'suspended_awaiting_children',
    runId: record.runId,
    stepId: `s${String(record.committedStep)}`,
    toolCallIds: asked.map(({ spec }) => spec.toolCallId),
    sequence: record.pauseSequence,
  };
}

/** Returns the open questions for people, in the order of the calls. */
export function toPendingQuestions(openCalls: readonly OpenCall[]): PendingQuestion[] {
  return Object.values(toPendingCalls(openCalls)).flatMap((call) => {
    const { toolCallId, toolName, kind, input, approvalId, inputHash, deadline, mayDecide } = call;
    if (call.response !== undefined) return [];
    const { edited } = call;
    const { roles, separate } = call.approvers ?? {};
    return [
      {
        toolCallId,
        toolName,
        kind,
        input,
        approvalId,
        inputHash,
        deadline,
        mayDecide,
        ...(edited && { edited: { by: edited.by, at: edited.at, from: edited.from } }),
        ...(roles !== undefined && { approvers: roles }),
        ...(separate === true && { separateApprover: true }),
        ...call.about,
      },
    ];
  });
}
