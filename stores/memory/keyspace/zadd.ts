import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { formatDouble } from './format.js';
import { RedisError, syntaxError, type Reply } from './reply.js';
import { requireScore } from './score-range.js';
import { emptySortedSet, setScore, type Ranked, type SortedSet } from './sorted-set.js';
import { isWord } from './text.js';

const OPTIONS = ['nx', 'xx', 'ch', 'incr', 'gt', 'lt'] as const;
type Options = ReadonlySet<(typeof OPTIONS)[number]>;

function zadd(db: Database, args: Args): Reply {
  const [key] = args;
  const { options, pairsFrom } = parseOptions(args);
  const pairs = parsePairs(args, pairsFrom, options);
  const stored = db.find(key, 'zset');
  const changes = changesBy(pairs, options, stored?.content ?? emptySortedSet());
  if (changes.written.length > 0) {
    const set = db.ownOrCreate(key, 'zset');
    for (const { member, score } of changes.written) setScore(set, member, score);
  }
  if (options.has('incr')) {
    return changes.lastScore === undefined ? false : formatDouble(changes.lastScore);
  }
  return options.has('ch') ? changes.added + changes.updated : changes.added;
}

function parseOptions(args: Args): { options: Options; pairsFrom: number } {
  const options = new Set<(typeof OPTIONS)[number]>();
  let at = 1;
  for (; at < args.length; at += 1) {
    const option = OPTIONS.find((word) => isWord(args[at] ?? '', word));
    if (option === undefined) break;
    options.add(option);
  }
  return { options, pairsFrom: at };
}

function parsePairs(args: Args, from: number, options: Options): Ranked[] {
  const count = args.length - from;
  if (count === 0 || count % 2 === 1) throw syntaxError();
  if (options.has('nx') && options.has('xx')) {
    throw new RedisError('ERR XX and NX options at the same time are not compatible');
  }
  if (['gt', 'lt', 'nx'].filter((word) => options.has(word as 'gt')).length > 1) {
    throw new RedisError('ERR GT, LT, and/or NX options at the same time are not compatible');
  }
  if (options.has('incr') && count > 2) {
    throw new RedisError('ERR INCR option supports a single increment-element pair');
  }
  const pairs: Ranked[] = [];
  for (let i = from; i < args.length; i += 2) {
    pairs.push({ score: requireScore(args[i] ?? ''), member: args[i + 1] ?? '' });
  }
  return pairs;
}

interface Changes {
  written: Ranked[];
  added: number;
  updated: number;
  /** The score of the last pair that was not held back. */
  lastScore: number | undefined;
}

function changesBy(pairs: readonly Ranked[], options: Options, set: SortedSet): Changes {
  const changes: Changes = { written: [], added: 0, updated: 0, lastScore: undefined };
  // A member may be given twice; the later pair sees what the earlier one did.
  const scores = new Map<string, number>();
  for (const { member, score: given } of pairs) {
    const current = scores.get(member) ?? set.scores.get(member);
    if (current === undefined ? options.has('xx') : options.has('nx')) continue;
    const score = current !== undefined && options.has('incr') ? current + given : given;
    if (Number.isNaN(score)) throw new RedisError('ERR resulting score is not a number (NaN)');
    if (current !== undefined && options.has('lt') && score >= current) continue;
    if (current !== undefined && options.has('gt') && score <= current) continue;
    changes.lastScore = score;
    if (score === current) continue;
    if (current === undefined) changes.added += 1;
    else changes.updated += 1;
    scores.set(member, score);
    changes.written.push({ member, score });
  }
  return changes;
}

export const zaddCommands: CommandTable = { ZADD: { arity: -4, run: zadd } };
