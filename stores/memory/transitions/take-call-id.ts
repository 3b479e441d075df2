import type { MemorySession } from '../session.js';

/** Gives a sub-agent's call an id that no other call of the conversation has. */
export function takeCallId({ id, root }: MemorySession, call: string, wanted: string): string {
  for (let n = 0; ; n += 1) {
    const toolCallId = n === 0 ? wanted : `${wanted}_${String(n)}`;
    const owner = root.owners.get(toolCallId);
    if (owner?.sessionId === id && owner.call === call) return toolCallId;
    const isTaken = owner ?? root.calls.get(toolCallId);
    if (isTaken !== undefined || root.settled.has(toolCallId)) continue;
    root.owners.set(toolCallId, { sessionId: id, call });
    return toolCallId;
  }
}
