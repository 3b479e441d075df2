import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { parseInt64, requireInteger } from './integers.js';
import { RedisError, syntaxError, type Reply } from './reply.js';
import { isWord } from './text.js';

function linsert(db: Database, [key, where, pivot, ...rest]: Args): Reply {
  const isAfter = isWord(where, 'after');
  if (!isAfter && !isWord(where, 'before')) throw syntaxError();
  const stored = db.find(key, 'list');
  if (stored === undefined) return 0;
  const place = stored.content.indexOf(pivot);
  if (place === -1) return -1;
  const elements = db.own(key, stored);
  elements.splice(isAfter ? place + 1 : place, 0, ...rest);
  return elements.length;
}

function lrem(db: Database, [key, count, element]: Args): Reply {
  const wanted = requireInteger(count);
  const stored = db.find(key, 'list');
  if (stored === undefined) return 0;
  const limit = wanted === 0 ? Infinity : Math.abs(wanted);
  const places = matches(stored.content, element, wanted < 0).slice(0, limit);
  if (places.length === 0) return 0;
  if (places.length === stored.content.length) {
    db.remove(key);
    return places.length;
  }
  const removed = new Set(places);
  const kept = stored.content.filter((_, place) => !removed.has(place));
  db.put(key, 'list', kept);
  return places.length;
}

function matches(elements: readonly string[], element: string, fromTail: boolean): number[] {
  const places: number[] = [];
  elements.forEach((other, place) => {
    if (other === element) places.push(place);
  });
  return fromTail ? places.reverse() : places;
}

function lpos(db: Database, args: Args): Reply {
  const [key, element] = args;
  const { rank, count, maxLength } = parseOptions(args);
  const elements = db.find(key, 'list')?.content ?? [];
  const scanned = maxLength === 0 ? elements.length : maxLength;
  const places = matches(elements, element, rank < 0)
    .filter((place) => (rank < 0 ? elements.length - 1 - place : place) < scanned)
    .slice(Math.abs(rank) - 1);
  if (count === undefined) return places[0] ?? false;
  return count === 0 ? places : places.slice(0, count);
}

interface LposOptions {
  rank: number;
  count: number | undefined;
  maxLength: number;
}

function parseOptions(args: Args): LposOptions {
  const options: LposOptions = { rank: 1, count: undefined, maxLength: 0 };
  for (let i = 2; i < args.length; i += 2) {
    const option = args[i] ?? '';
    const value = args[i + 1];
    if (value === undefined) throw syntaxError();
    if (isWord(option, 'rank')) options.rank = requireRank(value);
    else if (isWord(option, 'count')) options.count = requireNatural(value, 'COUNT');
    else if (isWord(option, 'maxlen')) options.maxLength = requireNatural(value, 'MAXLEN');
    else throw syntaxError();
  }
  return options;
}

function requireRank(text: string): number {
  const rank = requireInteger(text);
  if (rank !== 0) return rank;
  throw new RedisError(
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
      'or use negative to start from the end of the list',
  );
}

function requireNatural(text: string, option: string): number {
  const value = parseInt64(text);
  if (value === undefined || value < 0) throw new RedisError(`ERR ${option} can't be negative`);
  return Number(value);
}

export const listSearchCommands: CommandTable = {
  LINSERT: { arity: 5, run: linsert },
  LREM: { arity: 4, run: lrem },
  LPOS: { arity: -3, run: lpos },
};
