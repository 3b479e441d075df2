import { formatInt, redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { contentAt, only, type Content, type WriterRequest } from './lib/request.js';
import { isTerminal, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface KeepPageRequest {
  writer: Pick<WriterRequest, 'runId' | 'name' | 'token'>;
  /** Sequences of the first and the last entry; all between are the writer's own. */
  from: number;
  to: number;
  /** The entries, with adjacent deltas joined. */
  entries: Content;
}

/**
 * keep page: keeps a page of the running step as a replay sends it, so that viewers who join later
 * need not read each delta. See lib/kept-pages.
 *
 * Checks, in this order: the run is the newest and active · fence · a later page is kept, by this
 * request sent before or by another writer.
 *
 * @returns `kept` · `superseded` · `fenced` · `late`
 */
export function keepPage(
  session: Session,
  { writer, from, to, entries }: KeepPageRequest,
  args: readonly string[],
): string {
  const root = readRoot(session, ['run', 'status']);
  if (root.run !== writer.runId || isTerminal(root.status)) return only('superseded');
  if (readOwner(session, writer.name).token !== writer.token) return only('fenced');
  const [id, first] = [`${formatInt(to)}-0`, formatInt(from)];
  const kept = contentAt(args, entries);
  const added = redis.pcall('XADD', session.joined, id, 'from', first, 'entries', kept);
  if (typeof added !== 'string') return only('late');
  return only('kept');
}
