import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { formatNumber, requireDouble, requireInteger } from './numbers.js';
import { RedisError, unsupported, type Reply } from './reply.js';

function sadd(db: Database, [key, ...added]: Args): Reply {
  const stored = db.find(key, 'set');
  if (stored !== undefined && added.every((member) => stored.content.has(member))) return 0;
  const members = db.own(key, 'set', stored);
  const before = members.size;
  for (const member of added) members.add(member);
  return members.size - before;
}

function sismember(db: Database, [key, member]: Args): Reply {
  return db.read(key, 'set')?.has(member) === true ? 1 : 0;
}

export const setCommands: CommandTable = {
  SADD: { arity: -3, run: sadd },
  SREM: { arity: -3, run: (db, [key, ...members]) => db.removeMembers(key, 'set', members) },
  SISMEMBER: { arity: 3, run: sismember },
  SCARD: { arity: 2, run: (db, [key]) => db.read(key, 'set')?.size ?? 0 },
};

export type Scored = readonly [member: string, score: number];

/** Ordered by score, then by name. This is Redis' byte order except for a few characters. */
export function inOrder(entries: Iterable<Scored>): Scored[] {
  return [...entries].sort(([a, scoreOfA], [b, scoreOfB]) => {
    if (scoreOfA !== scoreOfB) return scoreOfA < scoreOfB ? -1 : 1;
    return a < b ? -1 : 1;
  });
}

const CONDITIONS = ['NX', 'XX', 'LT'] as const;

function zadd(db: Database, [key, ...rest]: Args): Reply {
  const condition = CONDITIONS.find((each) => each === rest[0]);
  const pairs = parsePairs(condition === undefined ? rest : rest.slice(1));
  const mayWrite = (scores: ReadonlyMap<string, number> | undefined, [member, to]: Scored) => {
    const from = scores?.get(member);
    if (condition === 'LT') return from === undefined || to < from;
    return condition === undefined || (from !== undefined) === (condition === 'XX');
  };
  const stored = db.find(key, 'zset');
  if (!pairs.some((pair) => mayWrite(stored?.content, pair))) return 0;
  const scores = db.own(key, 'zset', stored);
  const before = scores.size;
  for (const pair of pairs) {
    if (mayWrite(scores, pair)) scores.set(...pair);
  }
  return scores.size - before;
}

function parsePairs(words: readonly string[]): Scored[] {
  if (words.length === 0 || words.length % 2 === 1) throw new RedisError('ERR syntax error');
  const pairs: Scored[] = [];
  for (let i = 0; i < words.length; i += 2) {
    const score = requireDouble(words[i] ?? '', 'ERR value is not a valid float');
    pairs.push([words[i + 1] ?? '', score]);
  }
  return pairs;
}

function zscore(db: Database, [key, member]: Args): Reply {
  const score = db.read(key, 'zset')?.get(member);
  return score === undefined ? false : formatNumber(score);
}

function zrangebyscore(db: Database, [key, min, max, ...options]: Args): Reply {
  const { withScores, from, count } = parseOptions(options);
  const found = inOrder(between(db, key, { min, max }));
  const page = from < 0 ? [] : found.slice(from, count < 0 ? undefined : from + count);
  if (!withScores) return page.map(([member]) => member);
  return page.flatMap(([member, score]) => [member, formatNumber(score)]);
}

function parseOptions(words: readonly string[]): {
  withScores: boolean;
  from: number;
  count: number;
} {
  const options = { withScores: false, from: 0, count: -1 };
  for (let i = 0; i < words.length; i += 1) {
    const [option, offset, count] = words.slice(i);
    if (option === 'WITHSCORES') options.withScores = true;
    else if (option === 'LIMIT' && offset !== undefined && count !== undefined) {
      options.from = requireInteger(offset);
      options.count = requireInteger(count);
      i += 2;
    } else throw unsupported(`ZRANGEBYSCORE with ${String(option)}`);
  }
  return options;
}

/** The members with scores between two bounds, both included, unordered. */
function between(db: Database, key: string, edges: { min: string; max: string }): Scored[] {
  const [min, max] = [requireEdge(edges.min), requireEdge(edges.max)];
  const scores = db.read(key, 'zset') ?? new Map<string, number>();
  return [...scores].filter(([, score]) => score >= min && score <= max);
}

function requireEdge(text: string): number {
  return requireDouble(text, 'ERR min or max is not a float');
}

function zremrangebyscore(db: Database, [key, min, max]: Args): Reply {
  const members = between(db, key, { min, max }).map(([member]) => member);
  return db.removeMembers(key, 'zset', members);
}

export const sortedSetCommands: CommandTable = {
  ZADD: { arity: -4, run: zadd },
  ZREM: { arity: -3, run: (db, [key, ...members]) => db.removeMembers(key, 'zset', members) },
  ZSCORE: { arity: 3, run: zscore },
  ZCARD: { arity: 2, run: (db, [key]) => db.read(key, 'zset')?.size ?? 0 },
  ZRANGEBYSCORE: { arity: -4, run: zrangebyscore },
  ZREMRANGEBYSCORE: { arity: 4, run: zremrangebyscore },
};
