import { formatInt, redis, toNumber } from './lib/host.js';
import { only } from './lib/request.js';
import { readRoot } from './lib/root.js';
import { elsewhereOf, type Session } from './lib/session.js';

export interface RemoveFileRequest {
  id: string;
}

/**
 * remove file: the conversation has this file no longer; its bytes are removed afterwards. With the last file
 * of a conversation that was never begun goes the name of its owner.
 *
 * @returns `removed` · `not_found`
 */
export function removeFile(session: Session, { id }: RemoveFileRequest): string {
  const size = redis.call('HGET', session.files, `size:${id}`);
  if (size === false) return only('not_found');
  redis.call('HDEL', session.files, `file:${id}`, `size:${id}`);
  redis.call('HDEL', elsewhereOf(session), id);
  const left = redis.call('HINCRBY', session.files, 'count', '-1');
  redis.call('HINCRBY', session.files, 'bytes', formatInt(-toNumber(size)));
  redis.call('HINCRBY', session.files, 'changes', '1');
  const isBegun = readRoot(session, ['agent']).agent !== undefined;
  if (left === 0 && !isBegun) redis.call('UNLINK', session.files, session.fileBytes);
  return only('removed');
}
