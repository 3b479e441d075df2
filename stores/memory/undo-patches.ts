import type { JsonPatchOperation } from '../../protocol/chunk.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import { saidByCall } from './said-by-call.js';
import type { MemorySession } from './session.js';

/** Takes back what a call showed of changes that will never be made, the newest first. */
export function undoPatches(session: MemorySession, who: Speaker, toolCallId: string): void {
  const undos = saidByCall(session, toolCallId).flatMap(({ message }) =>
    message.type === 'state_patch' && message.undo !== undefined ? [message.undo] : [],
  );
  for (const undo of undos.reverse()) {
    writeOwn(session, who, 'state_patch', { patches: JSON.parse(undo) as JsonPatchOperation[] });
  }
}
