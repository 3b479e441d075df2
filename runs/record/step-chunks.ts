import type { ChunkOf, Interruption, StreamChunk } from '../../protocol/chunk.js';
import { formatCheckpointId } from '../../protocol/ids.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import type { ToolRow } from '../../protocol/rows.js';
import { SETTLED_TEXTS } from '../../session/settling.js';
import type { NewCall } from '../../store/contract/call-record.js';

/** The step that makes calls. */
export interface StepPlace {
  agentId: string;
  agentType: string;
  step: number;
  runId: string;
}

/** A checked call: the commit opens `call`, and `chunks` show it. */
export interface CallToCommit {
  call: NewCall;
  chunks: StreamChunk[];
}

/** Creates a call that is settled from the start, by an error for the model. Pure. */
export function closedCall(
  { agentId, agentType, step }: StepPlace,
  { toolCallId, toolName }: Pick<NewCall, 'toolCallId' | 'toolName'>,
  input: unknown,
  why: { code: string; text: string },
  timestamp: number,
): CallToCommit {
  const error = startOf(why.text, LIMITS.errorTextBytes / 4);
  const row: ToolRow = { role: 'tool', toolCallId, toolName, error, errorCode: why.code };
  const chunk: StreamChunk = {
    type: 'tool_input_error',
    agentId,
    agentType,
    step,
    timestamp,
    toolCallId,
    toolName,
    error,
    partialInput: input,
  };
  return { call: { toolCallId, toolName, kind: 'server', input, row }, chunks: [chunk] };
}

export const CUT_CALLS = {
  stopped: { code: 'run_stopped', text: SETTLED_TEXTS.run_stopped },
  failed: { code: 'run_failed', text: SETTLED_TEXTS.run_failed },
} as const;

/** Returns the chunks that close a step, after those of its calls. Pure. */
export function closingChunks(
  { agentId, agentType, step, runId }: StepPlace,
  timestamp: number,
  reply: {
    /** False for an empty reply: then the step is not shown. */
    hasRow: boolean;
    finish?: Pick<ChunkOf<'step_end'>, 'usage' | 'finishReason'>;
    interrupted?: Interruption | undefined;
  },
): StreamChunk[] {
  const base = { agentId, agentType, step, timestamp };
  const stepId = `s${String(step)}`;
  const checkpointId = formatCheckpointId(runId, step);
  const chunks: StreamChunk[] = [];
  if (reply.hasRow) {
    const { finish, interrupted } = reply;
    const cut = interrupted === undefined ? {} : { interrupted };
    chunks.push({ type: 'step_end', ...base, stepId, ...finish, ...cut });
  }
  chunks.push(
    { type: 'checkpoint_created', ...base, runId, checkpointId, stepCount: step },
    { type: 'step_committed', ...base, runId, stepId, checkpointId },
  );
  return chunks;
}
