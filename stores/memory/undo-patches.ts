import type { JsonPatchOperation } from '../../protocol/chunk.js';
import { fromJson } from './json.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemorySession } from './session.js';

/** Takes back what a call showed of changes that will never be made, the newest first. */
export function undoPatches(session: MemorySession, who: Speaker, toolCallId: string): void {
  const name = `t:${toolCallId}`;
  const owned = session.writers.get(name);
  if (owned === undefined) return;
  const undos = session.log.entries.flatMap(({ sequence, writer, message: json }) => {
    if (writer !== name || sequence <= owned.first) return [];
    const message = fromJson(json);
    return message.type === 'state_patch' && message.undo !== undefined ? [message.undo] : [];
  });
  for (const undo of undos.reverse()) {
    writeOwn(session, who, 'state_patch', { patches: JSON.parse(undo) as JsonPatchOperation[] });
  }
}
