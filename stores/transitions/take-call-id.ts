import { formatInt, redis } from './lib/host.js';
import { text } from './lib/json.js';
import { only } from './lib/request.js';
import { isLive, readRoot } from './lib/root.js';
import { isConversation, type Session } from './lib/session.js';

export interface TakeCallIdRequest {
  runId: string;
  /** Identifies the call within this session: the same call gets the same id again. */
  call: string;
  wanted: string;
}

/**
 * take call id: gives a call an id that is unique in the conversation: the wanted one, with `_<n>`
 * appended if another call has it.
 *
 * @returns `taken` with the id · `superseded`, the run is not active
 */
export function takeCallId(session: Session, { runId, call, wanted }: TakeCallIdRequest): string {
  const { run, status } = readRoot(session, ['run', 'status']);
  if (run !== runId || !isLive(status)) return only('superseded');
  const mine = `${session.part} ${call}`;
  let id = wanted;
  for (let n = 1; !isFree(session, id, mine); n += 1) id = `${wanted}_${formatInt(n)}`;
  // Ids of the conversation's own calls are found in its calls once they are committed.
  if (!isConversation(session)) redis.call('HSET', session.owners, id, mine);
  return `{"kind":"taken","id":${text(id)}}`;
}

function isFree(session: Session, id: string, mine: string): boolean {
  const { conversation } = session;
  const owner = redis.call('HGET', session.owners, id);
  if (owner !== false) return owner === mine;
  if (redis.call('HEXISTS', conversation.calls, `state:${id}`) === 1) return false;
  return redis.call('SISMEMBER', conversation.settled, id) === 0;
}
