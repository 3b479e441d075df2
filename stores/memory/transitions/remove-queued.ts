import { isTerminal } from '../../../protocol/run.js';
import type { RemoveQueuedInput, RemoveQueuedResult } from '../../contract/queue.js';
import { armExpiry } from '../expiry.js';
import { fromJson } from '../json.js';
import { tellOfQueue } from '../queue.js';
import type { MemorySession, StoreContext } from '../session.js';

/** Removes messages that wait; their ids count as never accepted. */
export function removeQueued(
  session: MemorySession,
  { messageId, now }: RemoveQueuedInput,
  context: StoreContext,
): RemoveQueuedResult {
  const removed: string[] = [];
  const kept = session.queue.filter((json) => {
    const ids = fromJson(json).messages.map(({ id }) => id);
    if (messageId !== undefined && !ids.includes(messageId)) return true;
    removed.push(...ids);
    return false;
  });
  const count = session.queue.length - kept.length;
  if (count === 0) return { kind: 'removed', count };
  session.queue = kept;
  for (const id of removed) session.accepted.delete(id);
  const { identity, run } = session;
  const step = run?.committedStep ?? 0;
  const who = { agentId: session.id, agentType: identity?.agent ?? '', step, now };
  tellOfQueue(session, who, removed);
  // It was kept for what waited.
  const isOver = run !== undefined && isTerminal(run.status);
  if (isOver && kept.length === 0) armExpiry(session, context);
  return { kind: 'removed', count };
}
