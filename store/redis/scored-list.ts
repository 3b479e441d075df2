import { HelixError } from '../../protocol/errors.js';
import type { Commands } from './commands.js';

export interface ScoredMember {
  member: string;
  score: number;
}

/** Reads up to `count` members of a sorted set after a given one, ordered by score, then name. */
export async function nextInOrder(
  redis: Pick<Commands, 'zrangebyscore'>,
  key: string,
  after: ScoredMember | undefined,
  count: number,
): Promise<ScoredMember[]> {
  // Some members with the same score may already have been returned, so more are read.
  for (let size = count + 1; ; size *= 2) {
    const found = await redis.zrangebyscore(
      key,
      after?.score ?? '-inf',
      '+inf',
      'WITHSCORES',
      'LIMIT',
      0,
      size,
    );
    const members = toMembers(found).filter((member) => isBehind(member, after));
    if (members.length > 0 || found.length < 2 * size) return members.slice(0, count);
  }
}

function toMembers(found: readonly string[]): ScoredMember[] {
  const members: ScoredMember[] = [];
  for (let at = 0; at < found.length; at += 2) {
    members.push({ member: found[at] ?? '', score: Number(found[at + 1]) });
  }
  return members;
}

function isBehind(one: ScoredMember, after: ScoredMember | undefined): boolean {
  if (after === undefined || one.score > after.score) return true;
  return one.score === after.score && one.member > after.member;
}

/** A session on a list that is ordered by time and then by id. */
interface ListedSession {
  sessionId: string;
  /** ms since the epoch. */
  at: number;
}

export function formatCursor({ at, sessionId }: ListedSession): string {
  return `${String(at)}.${sessionId}`;
}

/** @throws HelixError `validation_error` */
export function parseCursor(cursor: string): ListedSession {
  const [, at, sessionId] = /^(\d{1,16})\.([A-Za-z0-9_~-]{1,145})$/.exec(cursor) ?? [];
  if (at === undefined || sessionId === undefined) {
    throw new HelixError('validation_error', 'The cursor is not valid.');
  }
  return { at: Number(at), sessionId };
}
