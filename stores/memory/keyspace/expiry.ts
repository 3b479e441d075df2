import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { expiryAfter, type TimeUnit } from './expiry-time.js';
import { requireInt64 } from './integers.js';
import { RedisError, type Reply } from './reply.js';
import { cString, isWord } from './text.js';

const OPTIONS = ['nx', 'xx', 'gt', 'lt'] as const;
type ExpireOption = (typeof OPTIONS)[number];

function expire(db: Database, args: Args, unit: TimeUnit): Reply {
  const [key, amount] = args;
  const options = args.length > 2 ? parseOptions(args) : undefined;
  const now = db.now();
  const name = unit === 'seconds' ? 'expire' : 'pexpire';
  const at = expiryAfter(requireInt64(amount), unit, now, name);
  if (db.lookup(key) === undefined) return 0;
  if (options !== undefined && isHeldBack(options, db.expiryOf(key), at)) return 0;
  if (at <= now) db.remove(key);
  else db.setExpiry(key, at);
  return 1;
}

function parseOptions(args: Args): ReadonlySet<ExpireOption> {
  const options = new Set<ExpireOption>();
  for (let i = 2; i < args.length; i += 1) {
    const text = args[i] ?? '';
    const option = OPTIONS.find((word) => isWord(text, word));
    if (option === undefined) throw new RedisError(`ERR Unsupported option ${cString(text)}`);
    options.add(option);
  }
  if (options.has('nx') && options.size > 1) {
    throw new RedisError('ERR NX and XX, GT or LT options at the same time are not compatible');
  }
  if (options.has('gt') && options.has('lt')) {
    throw new RedisError('ERR GT and LT options at the same time are not compatible');
  }
  return options;
}

/** A key that does not expire counts as one that expires after any time. */
function isHeldBack(
  options: ReadonlySet<ExpireOption>,
  current: number | undefined,
  at: number,
): boolean {
  if (options.has('nx') && current !== undefined) return true;
  if (options.has('xx') && current === undefined) return true;
  if (options.has('gt') && (current === undefined || at <= current)) return true;
  return options.has('lt') && current !== undefined && at >= current;
}

function timeToLive(db: Database, key: string): number {
  if (db.lookup(key) === undefined) return -2;
  const expiry = db.expiryOf(key);
  return expiry === undefined ? -1 : Math.max(0, expiry - db.now());
}

function ttl(db: Database, [key]: Args): Reply {
  const ms = timeToLive(db, key);
  return ms < 0 ? ms : Math.floor((ms + 500) / 1000);
}

function persist(db: Database, [key]: Args): Reply {
  return db.lookup(key) !== undefined && db.dropExpiry(key) ? 1 : 0;
}

export const expiryCommands: CommandTable = {
  EXPIRE: { arity: -3, run: (db, args) => expire(db, args, 'seconds') },
  PEXPIRE: { arity: -3, run: (db, args) => expire(db, args, 'milliseconds') },
  PERSIST: { arity: 2, run: persist },
  TTL: { arity: 2, run: ttl },
  PTTL: { arity: 2, run: (db, [key]) => timeToLive(db, key) },
};
