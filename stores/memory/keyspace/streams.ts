import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { requireInteger } from './integers.js';
import { RedisError, syntaxError, unsupported, wrongArity, type Reply } from './reply.js';
import {
  compareIds,
  FIRST_ID,
  formatId,
  LAST_ID,
  parseRangeEnd,
  parseRangeStart,
  parseStrictId,
  type StreamId,
} from './stream-id.js';
import { placeBehindId, placeOfId, type StreamEntry } from './stream.js';
import { isWord } from './text.js';

const XADD_OPTIONS = ['maxlen', 'minid', 'limit', 'nomkstream'];

function xadd(db: Database, args: Args): Reply {
  const [key, given] = args;
  if (given === '*' || given.endsWith('-*') || XADD_OPTIONS.some((word) => isWord(given, word))) {
    throw unsupported(`XADD with ${given}`);
  }
  const id = parseStrictId(given);
  if (args.length < 4 || args.length % 2 === 1) throw wrongArity('xadd');
  if (compareIds(id, FIRST_ID) === 0) {
    throw new RedisError('ERR The ID specified in XADD must be greater than 0-0');
  }
  requireBehind(id, db.find(key, 'stream')?.content.lastId ?? FIRST_ID);
  const stream = db.ownOrCreate(key, 'stream');
  const text = formatId(id);
  stream.entries.push({ id, text, fields: args.slice(2) });
  stream.lastId = id;
  return text;
}

function requireBehind(id: StreamId, last: StreamId): void {
  if (compareIds(id, last) > 0) return;
  throw new RedisError(
    compareIds(last, LAST_ID) === 0
      ? 'ERR The stream has exhausted the last possible ID, unable to add more items'
      : 'ERR The ID specified in XADD is equal or smaller than the target stream top item',
  );
}

function xrange(db: Database, args: Args): Reply {
  return range(db, args, { start: args[1], end: args[2], isReversed: false });
}

function xrevrange(db: Database, args: Args): Reply {
  return range(db, args, { start: args[2], end: args[1], isReversed: true });
}

function range(
  db: Database,
  args: Args,
  asked: { start: string; end: string; isReversed: boolean },
): Reply {
  const start = parseRangeStart(asked.start);
  const end = parseRangeEnd(asked.end);
  const count = parseCount(args);
  const entries = db.find(args[0], 'stream')?.content.entries;
  if (entries === undefined) return [];
  if (count === 0) return false;
  const from = placeOfId(entries, start);
  const to = Math.max(from, placeBehindId(entries, end));
  if (!asked.isReversed) return entries.slice(from, Math.min(to, from + count)).map(toReply);
  return entries
    .slice(Math.max(from, to - count), to)
    .map(toReply)
    .reverse();
}

function parseCount(args: Args): number {
  let count = Infinity;
  for (let i = 3; i < args.length; i += 2) {
    const value = args[i + 1];
    if (value === undefined || !isWord(args[i] ?? '', 'count')) throw syntaxError();
    count = Math.max(0, requireInteger(value));
  }
  return count;
}

function toReply({ text, fields }: StreamEntry): Reply {
  return [text, fields.slice()];
}

function xdel(db: Database, [key, ...given]: Args): Reply {
  const stored = db.find(key, 'stream');
  if (stored === undefined) return 0;
  const ids = given.map((id) => parseStrictId(id));
  if (!ids.some((id) => hasId(stored.content.entries, id))) return 0;
  const { entries } = db.own(key, stored);
  const before = entries.length;
  for (const id of ids) {
    if (hasId(entries, id)) entries.splice(placeOfId(entries, id), 1);
  }
  return before - entries.length;
}

function hasId(entries: readonly StreamEntry[], id: StreamId): boolean {
  const found = entries[placeOfId(entries, id)];
  return found !== undefined && compareIds(found.id, id) === 0;
}

export const streamCommands: CommandTable = {
  XADD: { arity: -5, run: xadd },
  XRANGE: { arity: -4, run: xrange },
  XREVRANGE: { arity: -4, run: xrevrange },
  XDEL: { arity: -3, run: xdel },
  XLEN: { arity: 2, run: (db, [key]) => db.find(key, 'stream')?.content.entries.length ?? 0 },
};
