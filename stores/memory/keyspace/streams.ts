import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { requireInteger } from './numbers.js';
import { RedisError, unsupported, wrongArity, type Reply } from './reply.js';
import {
  compareIds,
  FIRST_ID,
  formatId,
  parseId,
  placeOf,
  type StreamEntry,
  type StreamId,
} from './stream.js';

function xadd(db: Database, [key, text, ...fields]: Args): Reply {
  const id = parseId(text);
  if (fields.length % 2 === 1) throw wrongArity('XADD');
  const stored = db.find(key, 'stream');
  if (compareIds(id, stored?.content.lastId ?? FIRST_ID) <= 0) {
    throw new RedisError(
      'ERR The ID specified in XADD is equal or smaller than the target stream top item',
    );
  }
  const stream = db.own(key, 'stream', stored);
  stream.entries.push({ id, fields });
  stream.lastId = id;
  return formatId(id);
}

function xrange(db: Database, [key, start, end, ...options]: Args): Reply {
  return range(db, key, { start, end, options, isReversed: false });
}

function xrevrange(db: Database, [key, end, start, ...options]: Args): Reply {
  return range(db, key, { start, end, options, isReversed: true });
}

interface RangeQuery {
  start: string;
  end: string;
  options: readonly string[];
  isReversed: boolean;
}

function range(db: Database, key: string, { isReversed, ...query }: RangeQuery): Reply {
  const start = parseEdge(query.start);
  const end = parseEdge(query.end);
  const count = parseCount(query.options);
  const entries = db.read(key, 'stream')?.entries;
  if (entries === undefined) return [];
  if (count === 0) return false;
  const from = placeOf(entries, start.isExclusive ? idBehind(start.id) : start.id);
  const to = placeOf(entries, end.isExclusive ? end.id : idBehind(end.id));
  const page = isReversed
    ? entries.slice(Math.max(from, to - count), to).reverse()
    : entries.slice(from, Math.min(to, from + count));
  return page.map(toReply);
}

function parseCount([option, count, ...more]: readonly string[]): number {
  if (option === undefined) return Infinity;
  if (option !== 'COUNT' || count === undefined || more.length > 0) {
    throw unsupported(`a range of ids with ${option}`);
  }
  return Math.max(0, requireInteger(count));
}

function parseEdge(text: string): { id: StreamId; isExclusive: boolean } {
  if (text === '-') return { id: FIRST_ID, isExclusive: false };
  if (text === '+') return { id: { ms: Infinity, seq: 0 }, isExclusive: false };
  const isExclusive = text.startsWith('(');
  return { id: parseId(isExclusive ? text.slice(1) : text), isExclusive };
}

function idBehind({ ms, seq }: StreamId): StreamId {
  return { ms, seq: seq + 1 };
}

function toReply({ id, fields }: StreamEntry): Reply {
  return [formatId(id), fields.slice()];
}

function xdel(db: Database, [key, ...texts]: Args): Reply {
  const stored = db.find(key, 'stream');
  if (stored === undefined) return 0;
  const ids = texts.map(parseId);
  if (!ids.some((id) => hasId(stored.content.entries, id))) return 0;
  const { entries } = db.own(key, 'stream', stored);
  const before = entries.length;
  for (const id of ids) {
    if (hasId(entries, id)) entries.splice(placeOf(entries, id), 1);
  }
  return before - entries.length;
}

function hasId(entries: readonly StreamEntry[], id: StreamId): boolean {
  const found = entries[placeOf(entries, id)];
  return found !== undefined && compareIds(found.id, id) === 0;
}

function xtrim(db: Database, [key, strategy, minId, ...options]: Args): Reply {
  if (strategy !== 'MINID' || options.length > 0) throw unsupported(`XTRIM with ${strategy}`);
  const id = parseId(minId);
  const stored = db.find(key, 'stream');
  const count = stored === undefined ? 0 : placeOf(stored.content.entries, id);
  if (count > 0) db.own(key, 'stream', stored).entries.splice(0, count);
  return count;
}

export const streamCommands: CommandTable = {
  XADD: { arity: -5, run: xadd },
  XRANGE: { arity: -4, run: xrange },
  XREVRANGE: { arity: -4, run: xrevrange },
  XDEL: { arity: -3, run: xdel },
  XLEN: { arity: 2, run: (db, [key]) => db.read(key, 'stream')?.entries.length ?? 0 },
  XTRIM: { arity: -4, run: xtrim },
};
