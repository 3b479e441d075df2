import type { AgentStatus } from '../protocol/agent-server.js';
import { toShownSessionId } from '../protocol/ids.js';
import type { SessionView } from '../stores/contract/sessions.js';
import { toRunStanding } from '../stores/record/run-standing.js';
import { toPendingCalls } from '../stores/record/session-summaries.js';

/** The state of a session's newest run, by the rows of its turn. @param isHeld it waits for its agent */
export function toAgentStatus(
  { record, rows, openCalls }: Pick<SessionView, 'record' | 'rows' | 'openCalls'>,
  { isHeld }: { isHeld: boolean },
): AgentStatus {
  const { sessionId, agent, runId, turn, status, stream, error, output, usage } = record;
  const { waitingFor, startAt } = toRunStanding(record, Date.now(), isHeld);
  const reply = rows.findLast((row) => row.role === 'assistant' && row.runId === runId);
  const parts = reply?.role === 'assistant' ? reply.parts : [];
  const pending = stream === 'paused' ? Object.values(toPendingCalls(openCalls)) : [];
  return {
    sessionId: toShownSessionId(sessionId),
    agent,
    run: {
      runId,
      turn,
      status,
      stepCount: record.committedStep,
      startedAt: record.runStartedAt,
      waitingFor,
      startAt,
      usage,
    },
    status,
    stream,
    latestSequence: record.sequence,
    messageId: record.messageId,
    turnStartSequence: record.turnStartSequence,
    pauseSequence: record.pauseSequence,
    pending: pending
      .filter(({ response }) => response === undefined)
      .map((call) => ({
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        kind: call.kind,
        input: call.input,
        runId: call.runId,
        approvalId: call.approvalId,
        inputHash: call.inputHash,
        deadline: call.deadline,
        mayDecide: call.mayDecide,
      })),
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    error,
    output,
  };
}
