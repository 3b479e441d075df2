import { HelixError } from '../../protocol/errors.js';
import type { Commands } from './commands.js';

export interface ScoredMember {
  member: string;
  score: number;
}

type Sorted = Pick<Commands, 'zrangebyscore'>;

/** A member with its score as Redis writes it, which a check compares. */
type Stored = ScoredMember & { text: string };

/** Reads the members with the lowest scores, up to a score. */
export async function lowest(redis: Sorted, key: string, upTo: number | '+inf', count: number) {
  return toMembers(await redis.zrangebyscore(key, '-inf', upTo, 'WITHSCORES', 'LIMIT', 0, count));
}

/** Reads up to `count` members of a sorted set after a given one, ordered by score, then name. */
export async function nextInOrder(
  redis: Sorted,
  key: string,
  after: ScoredMember | undefined,
  count: number,
): Promise<ScoredMember[]> {
  const from = after?.score ?? '-inf';
  // Some members with the same score may already have been returned, so more are read.
  for (let size = count + 1; ; size *= 2) {
    const found = toMembers(
      await redis.zrangebyscore(key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, size),
    );
    const members = found.filter((each) => isBehind(each, after));
    if (members.length > 0 || found.length < size) return members.slice(0, count);
  }
}

function toMembers(flat: readonly string[]): Stored[] {
  return flat.flatMap((member, at) => {
    const text = flat[at + 1] ?? '';
    return at % 2 === 0 ? [{ member, score: Number(text), text }] : [];
  });
}

function isBehind(one: ScoredMember, after: ScoredMember | undefined): boolean {
  if (after === undefined || one.score > after.score) return true;
  return one.score === after.score && one.member > after.member;
}

/** Limit on members examined for one page: stale ones are removed while reading. */
const MAX_LOOKS = 500;

interface ListPage {
  limit: number;
  /** Cursor from the previous page. */
  cursor?: string | undefined;
  /** Number of members read at once. Default: the missing ones. */
  atOnce?: number | undefined;
  /** The highest score that is listed. */
  upTo?: number | undefined;
  /** -1 if scores are negative times. */
  sign?: 1 | -1;
}

/**
 * Reads a page of sessions, some of which may be stale, from a list ordered by time and then by id.
 *
 * @param look returns the items of the first of these members, at most `room`, and the last member that it has examined
 * @throws HelixError `validation_error` if the cursor cannot be parsed
 */
export async function readListPage<Item>(
  redis: Sorted,
  key: string,
  { limit, cursor, atOnce, upTo = Infinity, sign = 1 }: ListPage,
  look: (
    members: readonly ScoredMember[],
    room: number,
  ) => Promise<{ items: Item[]; last: ScoredMember | undefined }>,
): Promise<{ items: Item[]; cursor?: string }> {
  const items: Item[] = [];
  let last = cursor === undefined ? undefined : parseCursor(cursor, sign);
  const next = async (count: number): Promise<ScoredMember[]> =>
    (await nextInOrder(redis, key, last, count)).filter(({ score }) => score <= upTo);
  for (let looks = 0; items.length < limit && looks < MAX_LOOKS;) {
    const room = limit - items.length;
    const listed = await next(atOnce ?? room);
    if (listed.length === 0) return { items };
    looks += listed.length;
    const looked = await look(listed, room);
    items.push(...looked.items);
    last = looked.last;
  }
  if (last === undefined || (await next(1)).length === 0) return { items };
  return { items, cursor: `${String(sign * last.score)}.${last.member}` };
}

function parseCursor(cursor: string, sign: 1 | -1): ScoredMember {
  const [, at, member] = /^(\d{1,16})\.([A-Za-z0-9_~-]{1,145})$/.exec(cursor) ?? [];
  if (at === undefined || member === undefined)
    throw new HelixError('validation_error', 'The cursor is not valid.');
  return { score: sign * Number(at), member };
}
