import type { Row } from '../protocol/rows.js';

/** A call of a conversation as its transcript has it. */
export interface SeenCall {
  toolCallId: string;
  tool: string;
  /** As the model proposed it. */
  input: unknown;
  /** Of a call that people approve: the decision, once there is one. */
  decision?: { approved: boolean; reason?: string; by?: string; input?: unknown };
  /** Absent while the call is open, and if it failed. */
  output?: unknown;
  error?: string;
}

/** The calls of a transcript, in the order in which the model made them. */
export function toSeenCalls(rows: readonly Row[]): SeenCall[] {
  const calls: SeenCall[] = [];
  for (const row of rows) {
    if (row.role === 'assistant' && row.display !== true) {
      for (const part of row.parts) {
        if (part.type !== 'tool-call') continue;
        const { toolCallId, toolName: tool, input } = part;
        calls.push({ toolCallId, tool, input });
      }
    }
    if (row.role !== 'tool' || row.display === true) continue;
    const call = calls.find(({ toolCallId }) => toolCallId === row.toolCallId);
    if (call === undefined) continue;
    const { decision, error, output } = row;
    if (decision !== undefined) {
      const { approved, reason, by, input } = decision;
      call.decision = { approved, reason, by, input };
    }
    if (error !== undefined) call.error = error;
    else if (row.denied !== true) call.output = output;
  }
  return calls;
}
