import { formatInt, redis, toNumber } from './lib/host.js';

/** Ids of entries are remembered this long; an outbox that was not trimmed is relayed again long before. */
const SEEN_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * chain audit: appends entries to a tenant's audit chain, if it still ends where the relay read it
 * and has none of them.
 *
 * Keys: head, chain and seen ids, in one slot. Arguments: `chainAudit`, now, number and hash of the
 * expected head, then for each entry: id, text, hash, signature.
 *
 * @returns whether they were appended, number and hash of the head, then the ids that are in the
 * chain already · `stray`: entries stand behind the head, which no transition has written
 */
export function chainAudit(keys: readonly string[], args: readonly string[]): string[] {
  const [head, chain, seen] = keys as [string, string, string];
  const [, now, number, expected] = args as [string, string, string, string];
  const stored = redis.call('HMGET', head, 'n', 'hash');
  const n = stored[0] === false ? '0' : (stored[0] as string);
  const hash = stored[1] === false ? '' : (stored[1] as string);
  const known: string[] = [];
  for (let at = 4; at < args.length; at += 4) {
    const id = args[at] as string;
    if (redis.call('ZSCORE', seen, id) !== false) known.push(id);
  }
  if (redis.call('XRANGE', chain, `(${n}-0`, '+', 'COUNT', '1').length > 0) return ['stray'];
  if (n !== number || hash !== expected || known.length > 0) return ['moved', n, hash, ...known];
  let last = toNumber(n);
  let newest = hash;
  for (let at = 4; at < args.length; at += 4) {
    last += 1;
    newest = args[at + 2] as string;
    const fields = ['e', args[at + 1] as string, 'h', newest, 'm', args[at + 3] as string];
    redis.call('XADD', chain, `${formatInt(last)}-0`, ...fields);
    redis.call('ZADD', seen, now, args[at] as string);
  }
  redis.call('HSET', head, 'n', formatInt(last), 'hash', newest);
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', formatInt(toNumber(now) - SEEN_MS));
  return ['chained', formatInt(last), newest];
}
