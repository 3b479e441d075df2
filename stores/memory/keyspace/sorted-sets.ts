import { clampRange, type Args, type CommandTable } from './command.js';
import type { Database } from './database.js';
import { formatDouble } from './format.js';
import { requireInteger } from './integers.js';
import { RedisError, syntaxError, unsupported, type Reply } from './reply.js';
import { parseScoreRange, placesInRange } from './score-range.js';
import { removeMember, removePlaces, type Ranked } from './sorted-set.js';
import { isWord } from './text.js';

function zrem(db: Database, [key, ...members]: Args): Reply {
  const stored = db.find(key, 'zset');
  if (stored === undefined) return 0;
  if (!members.some((member) => stored.content.scores.has(member))) return 0;
  const set = db.own(key, stored);
  const removed = members.filter((member) => removeMember(set, member)).length;
  if (set.order.length === 0) db.remove(key);
  return removed;
}

function zscore(db: Database, [key, member]: Args): Reply {
  const score = db.find(key, 'zset')?.content.scores.get(member);
  return score === undefined ? false : formatDouble(score);
}

interface RangeOptions {
  withScores: boolean;
  isReversed: boolean;
  offset: number;
  /** -1: no limit. */
  limit: number;
}

function parseOptions(args: Args, takesRev: boolean): RangeOptions {
  const options = { withScores: false, isReversed: false, offset: 0, limit: -1 };
  for (let i = 3; i < args.length; i += 1) {
    const option = args[i] ?? '';
    const limit = args[i + 2];
    if (isWord(option, 'withscores')) options.withScores = true;
    else if (isWord(option, 'limit') && limit !== undefined) {
      options.offset = requireInteger(args[i + 1] ?? '');
      options.limit = requireInteger(limit);
      i += 2;
    } else if (takesRev && isWord(option, 'rev')) options.isReversed = true;
    else if (takesRev && (isWord(option, 'byscore') || isWord(option, 'bylex'))) {
      throw unsupported(`ZRANGE with ${option}`);
    } else throw syntaxError();
  }
  return options;
}

function zrange(db: Database, args: Args): Reply {
  const options = parseOptions(args, true);
  if (options.limit !== -1) {
    throw new RedisError(
      'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
    );
  }
  const start = requireInteger(args[1]);
  const stop = requireInteger(args[2]);
  const order = db.find(args[0], 'zset')?.content.order ?? [];
  const { from, to } = clampRange(start, stop, order.length);
  if (!options.isReversed) return flatten(order.slice(from, to), options);
  return flatten(order.slice(order.length - to, order.length - from).reverse(), options);
}

function zrangebyscore(db: Database, args: Args): Reply {
  const options = parseOptions(args, false);
  const range = parseScoreRange(args[1], args[2]);
  const order = db.find(args[0], 'zset')?.content.order;
  // As in Redis, which walks to the end for a negative offset.
  if (order === undefined || options.offset < 0) return [];
  const { from, to } = placesInRange(order, range);
  const first = from + options.offset;
  const end = options.limit < 0 ? to : Math.min(to, first + options.limit);
  return flatten(order.slice(first, Math.max(first, end)), options);
}

function flatten(entries: readonly Ranked[], { withScores }: RangeOptions): Reply {
  if (!withScores) return entries.map(({ member }) => member);
  return entries.flatMap(({ member, score }) => [member, formatDouble(score)]);
}

function zremrangebyscore(db: Database, [key, min, max]: Args): Reply {
  const range = parseScoreRange(min, max);
  const stored = db.find(key, 'zset');
  if (stored === undefined) return 0;
  const { from, to } = placesInRange(stored.content.order, range);
  if (from >= to) return 0;
  const set = db.own(key, stored);
  const removed = removePlaces(set, from, to);
  if (set.order.length === 0) db.remove(key);
  return removed;
}

function zcount(db: Database, [key, min, max]: Args): Reply {
  const range = parseScoreRange(min, max);
  const { from, to } = placesInRange(db.find(key, 'zset')?.content.order ?? [], range);
  return Math.max(0, to - from);
}

export const sortedSetCommands: CommandTable = {
  ZREM: { arity: -3, run: zrem },
  ZSCORE: { arity: 3, run: zscore },
  ZCARD: { arity: 2, run: (db, [key]) => db.find(key, 'zset')?.content.order.length ?? 0 },
  ZRANGE: { arity: -4, run: zrange },
  ZRANGEBYSCORE: { arity: -4, run: zrangebyscore },
  ZREMRANGEBYSCORE: { arity: 4, run: zremrangebyscore },
  ZCOUNT: { arity: 4, run: zcount },
};
