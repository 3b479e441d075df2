import { redis } from './lib/host.js';
import { int } from './lib/json.js';
import { only } from './lib/request.js';
import { isTerminal, num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface TakeOverRequest {
  runId: string;
  name: string;
}

/**
 * take over: makes the caller the owner of a writer that does not answer. What it wrote stays, its
 * next write is refused. A repeated request takes over once more, which does no harm.
 *
 * @returns `taken` with the token and the sequence before the writer's first entry · `superseded` ·
 * `nothing`, the writer does not exist
 */
export function takeOver(session: Session, { runId, name }: TakeOverRequest): string {
  const root = readRoot(session, ['run', 'status']);
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  const fields = [`t:${name}`, `f:${name}`, `b:${name}`];
  const [owner = false, first = false, batch = false] = redis.call(
    'HMGET',
    session.writers,
    ...fields,
  );
  if (owner === false) return only('nothing');
  const token = num(owner) + 1;
  const taken = [`t:${name}`, int(token), `b:${name}`, '0', `s:${name}`, '0'];
  // A later attempt still withdraws what was written.
  if (batch !== '0') taken.push(`w:${name}`, 'wrote');
  redis.call('HSET', session.writers, ...taken);
  return `{"kind":"taken","token":${int(token)},"first":${first === false ? '0' : first}}`;
}
