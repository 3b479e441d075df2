import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { expiryAfter, type TimeUnit } from './expiry-time.js';
import { addInt64, requireInt64, type Int64 } from './integers.js';
import { RedisError, invalidExpire, syntaxError, type Reply } from './reply.js';
import { isWord } from './text.js';

interface SetOptions {
  condition: 'nx' | 'xx' | undefined;
  keepsTtl: boolean;
  returnsOld: boolean;
  expiry: { amount: string; unit: TimeUnit; isAbsolute: boolean; option: string } | undefined;
}

function set(db: Database, args: Args): Reply {
  const [key, value] = args;
  const options = args.length > 2 ? parseOptions(args) : undefined;
  const expiresAt = options?.expiry && timeOf(db, options.expiry);
  const old = options?.returnsOld === true ? (db.find(key, 'string')?.content ?? false) : undefined;
  const { condition } = options ?? {};
  if (condition !== undefined && (condition === 'xx') !== (db.lookup(key) !== undefined)) {
    return old ?? false;
  }
  if (options?.keepsTtl === true) db.lookup(key);
  else db.dropExpiry(key);
  db.put(key, 'string', value);
  if (expiresAt !== undefined) db.setExpiry(key, expiresAt);
  return old ?? 'OK';
}

function parseOptions(args: Args): SetOptions {
  const options: SetOptions = {
    ...{ condition: undefined, keepsTtl: false, returnsOld: false, expiry: undefined },
  };
  for (let i = 2; i < args.length; i += 1) {
    const option = args[i] ?? '';
    if (isWord(option, 'get')) options.returnsOld = true;
    else if (isWord(option, 'nx') && options.condition !== 'xx') options.condition = 'nx';
    else if (isWord(option, 'xx') && options.condition !== 'nx') options.condition = 'xx';
    else if (isWord(option, 'keepttl') && options.expiry === undefined) options.keepsTtl = true;
    else {
      i += 1;
      options.expiry = parseExpiry(option, args[i], options);
    }
  }
  return options;
}

const EXPIRY_OPTIONS = ['ex', 'px', 'exat', 'pxat'];

function parseExpiry(
  text: string,
  amount: string | undefined,
  { keepsTtl, expiry }: SetOptions,
): SetOptions['expiry'] {
  const option = EXPIRY_OPTIONS.find((word) => isWord(text, word));
  // The same option twice is taken, and the last amount counts.
  const contradicts = keepsTtl || (expiry !== undefined && expiry.option !== option);
  if (option === undefined || amount === undefined || contradicts) throw syntaxError();
  const unit = option.startsWith('e') ? 'seconds' : 'milliseconds';
  return { amount, unit, isAbsolute: option.endsWith('at'), option };
}

function timeOf(
  db: Database,
  { amount, unit, isAbsolute }: NonNullable<SetOptions['expiry']>,
): number {
  const given = requireInt64(amount);
  if (given <= 0) throw invalidExpire('set');
  return expiryAfter(given, unit, isAbsolute ? 0 : db.now(), 'set');
}

function increment(db: Database, key: string, by: Int64): Reply {
  const sum = addInt64(requireInt64(db.find(key, 'string')?.content ?? '0'), by);
  if (sum === undefined) throw new RedisError('ERR increment or decrement would overflow');
  db.put(key, 'string', String(sum));
  return Number(sum);
}

export const stringCommands: CommandTable = {
  SET: { arity: -3, run: set },
  GET: { arity: 2, run: (db, [key]) => db.find(key, 'string')?.content ?? false },
  INCR: { arity: 2, run: (db, [key]) => increment(db, key, 1) },
  INCRBY: { arity: 3, run: (db, [key, by]) => increment(db, key, requireInt64(by)) },
};
