import type { EditQueuedInput, EditQueuedResult } from '../../contract/queue.js';
import { fromJson, toJson } from '../json.js';
import { tellOfQueue } from '../queue.js';
import type { MemorySession } from '../session.js';

/** Replaces a message that waits. */
export function editQueued(
  session: MemorySession,
  { message: { id, hash, row }, expectedHash, now }: EditQueuedInput,
): EditQueuedResult {
  for (const [at, json] of session.queue.entries()) {
    const entry = fromJson(json);
    const message = entry.messages.find((candidate) => candidate.id === id);
    if (message === undefined) continue;
    if (message.hash === hash) return { kind: 'edited' };
    if (message.hash !== expectedHash) return { kind: 'stale' };
    Object.assign(message, { hash, row });
    session.queue[at] = toJson(entry);
    session.accepted.set(id, hash);
    const agentType = session.identity?.agent ?? '';
    const step = session.run?.committedStep ?? 0;
    tellOfQueue(session, { agentId: session.id, agentType, step, now });
    return { kind: 'edited' };
  }
  return { kind: 'not_queued' };
}
