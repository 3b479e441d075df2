import type { RunError, RunStatus, StreamStatus } from '../protocol/run.js';
import type { RunUsage } from '../stores/session-record.js';
import type { PendingCall } from '../stores/session-state.js';
import type { SessionView } from '../stores/session-store.js';
import { toPendingCalls } from '../stores/session-summaries.js';

/** Reply of `GET /agent/status`: how the session's newest run stands. */
export interface AgentStatus {
  sessionId: string;
  agent: string;
  run: {
    runId: string;
    turn: number;
    status: RunStatus;
    /** Steps committed. */
    stepCount: number;
    /** ms since the epoch. */
    startedAt: number;
    usage?: RunUsage;
  };
  status: RunStatus;
  stream: StreamStatus;
  latestSequence: number;
  /** Calls that wait for an answer. */
  pending: PendingCall[];
  /** What the newest step said. */
  text: string;
  error?: RunError;
  /** The structured result, once there is one. */
  output?: unknown;
}

export function toAgentStatus({ record, rows, openCalls }: SessionView): AgentStatus {
  const { sessionId, agent, runId, turn, status, stream, error, output, usage } = record;
  const reply = rows.findLast((row) => row.role === 'assistant' && row.runId === runId);
  const parts = reply?.role === 'assistant' ? reply.parts : [];
  const pending = stream === 'paused' ? Object.values(toPendingCalls(openCalls)) : [];
  return {
    sessionId,
    agent,
    run: {
      runId,
      turn,
      status,
      stepCount: record.committedStep,
      startedAt: record.runStartedAt,
      ...(usage && { usage }),
    },
    status,
    stream,
    latestSequence: record.sequence,
    pending: pending.filter(({ response }) => response === undefined),
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    ...(error && { error }),
    ...(output !== undefined && { output }),
  };
}
