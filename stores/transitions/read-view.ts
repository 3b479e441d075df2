import { redis } from './lib/host.js';
import { isConversation, type Session } from './lib/session.js';
import { sessionsBelow } from './lib/walk.js';

export interface ReadViewRequest {
  /** Leaves out the number of rows, and the queue. */
  callsOnly: boolean;
  /** Leaves everything but the root out if the session belongs to another owner. */
  owner?: { owner: string; tenant: string };
}

/**
 * read view: a session with the calls of its sub-agents, read at one moment. The reply is not JSON:
 * what is stored is passed through unchanged. Rows are left to the caller, since they may be many.
 *
 * @returns root, number of rows and queue of the session, then [order, calls] of the session and of each
 * sub-agent below it
 */
export function readView(session: Session, { callsOnly, owner }: ReadViewRequest): unknown[] {
  const root = redis.call('HGETALL', session.root);
  // How long a read takes tells a stranger how much there is.
  if (owner !== undefined && !isOwnedBy(session, owner)) return [root, 0, []];
  if (!isConversation(session)) {
    const top = session.conversation.root;
    root.push('seq', textOf(redis.call('HGET', top, 'seq')));
    root.push('stream', textOf(redis.call('HGET', top, 'stream')));
    root.push('conversationStep', textOf(redis.call('HGET', top, 'committed')));
  }
  const rows = callsOnly ? 0 : redis.call('LLEN', session.rows);
  const queue = callsOnly ? [] : redis.call('LRANGE', session.queue, '0', '-1');
  const view: unknown[] = [root, rows, queue];
  for (const { session: below, calls } of sessionsBelow(session)) {
    const order: string[] = [];
    for (const { id } of calls) order.push(id);
    view.push([order, redis.call('HGETALL', below.calls)]);
  }
  return view;
}

function isOwnedBy(
  session: Session,
  { owner, tenant }: { owner: string; tenant: string },
): boolean {
  return (
    redis.call('HGET', session.root, 'owner') === owner &&
    textOf(redis.call('HGET', session.root, 'tenant')) === tenant
  );
}

function textOf(value: string | false): string {
  return value === false ? '' : value;
}
