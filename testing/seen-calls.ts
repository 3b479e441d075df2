import type { Row } from '../protocol/rows.js';

/** A call in the transcript of a conversation. */
export interface SeenCall {
  toolCallId: string;
  tool: string;
  /** Input as the model proposed it. */
  input: unknown;
  /** Decision on a call that needs approval, once made. */
  decision?: { approved: boolean; reason?: string; by?: string; input?: unknown };
  /** Absent while the call is open or if it failed. */
  output?: unknown;
  error?: string;
}

/** Returns the calls of a transcript in the model's order. */
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
