import type { StreamChunk } from '../../protocol/chunk.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { CallKind } from '../../protocol/run.js';

/** A chunk without the fields that all chunks share. */
export type Bare<T = StreamChunk> = T extends StreamChunk
  ? Omit<T, 'agentId' | 'agentType' | 'timestamp' | 'step'>
  : never;

export interface FakeCall {
  id: string;
  name: string;
  kind?: CallKind;
  input?: unknown;
  /** Error text; if set, the call is settled from the start. */
  invalid?: string;
}

/** Returns the chunk by which a committed step shows a call. */
export function toOpening(runId: string, { id, name, kind, input = {}, invalid }: FakeCall): Bare {
  const call = { toolCallId: id, toolName: name };
  if (invalid !== undefined) {
    return { type: 'tool_input_error', ...call, error: invalid, partialInput: input };
  }
  if (kind === 'approval') {
    return {
      type: 'tool_approval_request',
      ...call,
      approvalId: formatApprovalId(runId, id),
      input,
    };
  }
  const mark = kind === 'client' ? {} : { providerExecuted: true };
  return { type: 'tool_start', ...call, arguments: input as Record<string, unknown>, ...mark };
}
