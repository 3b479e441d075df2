import { formatInt, redis, toNumber } from './lib/host.js';
import { only } from './lib/request.js';
import { elsewhereOf, type Session } from './lib/session.js';

export interface RemoveFileRequest {
  id: string;
}

/**
 * remove file: the conversation has this file no longer; its bytes are removed afterwards.
 *
 * @returns `removed` · `not_found`
 */
export function removeFile(session: Session, { id }: RemoveFileRequest): string {
  const size = redis.call('HGET', session.files, `size:${id}`);
  if (size === false) return only('not_found');
  redis.call('HDEL', session.files, `file:${id}`, `size:${id}`);
  redis.call('HDEL', elsewhereOf(session), id);
  redis.call('HINCRBY', session.files, 'count', '-1');
  redis.call('HINCRBY', session.files, 'bytes', formatInt(-toNumber(size)));
  redis.call('HINCRBY', session.files, 'changes', '1');
  return only('removed');
}
