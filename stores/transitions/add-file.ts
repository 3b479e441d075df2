import { expireWithRoot, filesOwner } from './lib/expiry.js';
import { formatInt, redis, toNumber } from './lib/host.js';
import { int } from './lib/json.js';
import { contentAt, only, type Content } from './lib/request.js';
import { readRoot, storeNow } from './lib/root.js';
import { elsewhereOf, type Session } from './lib/session.js';

export interface AddFileRequest {
  id: string;
  /** The file as JSON. */
  file: Content;
  bytes: number;
  owner: string;
  tenant: string;
  limits: { files: number; bytes: number };
  /** How long a file of a session that does not exist is kept, ms. */
  unclaimedMs: number;
  /** Its bytes are kept outside this store, which cannot expire them. */
  isElsewhere?: boolean;
}

/**
 * add file: notes a file of the conversation, whose bytes are written afterwards. The session need
 * not exist: its files then belong to the first owner who adds one, expire, and stay if that owner
 * creates the session.
 *
 * Checks, in this order: the file is noted already · whose session it is · its limits.
 *
 * @returns `added` · `not_found` · `exceeded` with the limit
 */
export function addFile(
  session: Session,
  request: AddFileRequest,
  args: readonly string[],
): string {
  const { id, bytes, owner, tenant, limits } = request;
  const root = readRoot(session, ['agent', 'owner', 'tenant']);
  const isThere = root.agent !== undefined;
  const isOwn = root.owner === owner && (root.tenant ?? '') === tenant;
  if (isThere && !isOwn) return only('not_found');
  const whose = filesOwner(owner, tenant);
  const holder = redis.call('HGET', session.files, 'whose');
  if (holder !== false && holder !== whose) {
    if (!isThere) return only('not_found');
    // Added by another user before the session was created.
    redis.call('UNLINK', session.files, session.fileBytes);
  }
  if (redis.call('HEXISTS', session.files, `file:${id}`) === 1) return only('added');
  const [count, size] = redis.call('HMGET', session.files, 'count', 'bytes');
  const files = numberOf(count) + 1;
  const total = numberOf(size) + bytes;
  if (files > limits.files) return exceeded('files', limits.files);
  if (total > limits.bytes) return exceeded('bytes', limits.bytes);
  const sums = ['whose', whose, 'count', formatInt(files), 'bytes', formatInt(total)];
  const about = [`file:${id}`, contentAt(args, request.file), `size:${id}`, formatInt(bytes)];
  redis.call('HSET', session.files, ...sums, ...about);
  redis.call('HINCRBY', session.files, 'changes', '1');
  if (request.isElsewhere === true) {
    redis.call('HSET', elsewhereOf(session), id, formatInt(storeNow()));
  }
  // What is written later keeps the expiry that the key has by then.
  redis.call('HSETNX', session.fileBytes, '', '');
  if (isThere) expireWithRoot(session);
  else {
    redis.call('PEXPIRE', session.files, formatInt(request.unclaimedMs));
    redis.call('PEXPIRE', session.fileBytes, formatInt(request.unclaimedMs));
  }
  return only('added');
}

function exceeded(what: string, limit: number): string {
  return `{"kind":"exceeded","what":"${what}","limit":${int(limit)}}`;
}

function numberOf(value: string | false | undefined): number {
  return value === undefined || value === false ? 0 : toNumber(value);
}
