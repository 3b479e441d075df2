import type { Conversation, Owners } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { titleOf } from '../record/conversation-title.js';
import { formatCursor, parseCursor, nextInOrder, type ScoredMember } from './scored-list.js';
import { isSame, type Charged } from './charged.js';
import type { RedisContext } from './context.js';

/** Maximum number of entries examined for one page; stale entries are removed while reading. */
const MOST_LOOKS = 500;
/** A search reads the titles of this many entries at once. */
const SEARCHED = 100;
/** Number of rows searched for the title of a conversation without one. */
const TITLE_ROWS = 5;

interface Reads {
  read: (sessionId: string) => Promise<Charged | undefined>;
  fold: Owners['fold'];
  readRows: Sessions['rows'];
}

/** Reads the list of an owner's conversations, page by page. */
export function createConversationPages(
  { redis, keys }: Pick<RedisContext, 'redis' | 'keys'>,
  { read, fold, readRows }: Reads,
): Owners['page'] {
  async function titlesOf(owner: SessionOwner, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const stored = await redis.hmget(keys.owner(owner).titles, ...ids);
    return Promise.all(
      ids.map(async (id, at) => stored[at] ?? titleOf(await readRows(id, 0, TITLE_ROWS))),
    );
  }

  /** Reads a conversation, or removes it from the list if it no longer exists. */
  async function look(
    owner: SessionOwner,
    sessionId: string,
    title: string,
  ): Promise<Conversation | undefined> {
    const found = await read(sessionId);
    if (found === undefined || !isSame(found.owner, owner)) {
      await fold(sessionId, owner);
      return undefined;
    }
    const { agent, status, standing } = found;
    return { sessionId, title, agent, status, updatedAt: standing.updated };
  }

  return async (owner, { limit, cursor, search = '' }) => {
    const { sessions } = keys.owner(owner);
    const start = cursor === undefined ? undefined : parseCursor(cursor);
    const wanted = search.toLowerCase();
    let last: ScoredMember | undefined = start && { member: start.sessionId, score: -start.at };
    const conversations: Conversation[] = [];
    for (let looks = 0; conversations.length < limit && looks < MOST_LOOKS;) {
      const count = search === '' ? limit - conversations.length : SEARCHED;
      const listed = await nextInOrder(redis, sessions, last, count);
      if (listed.length === 0) break;
      looks += listed.length;
      const titles = await titlesOf(
        owner,
        listed.map(({ member }) => member),
      );
      const matches = listed
        .map((entry, at) => ({ entry, title: titles[at] ?? '' }))
        .filter(({ title }) => title.toLowerCase().includes(wanted));
      const taken = matches.slice(0, limit - conversations.length);
      last = taken.length < matches.length ? taken.at(-1)?.entry : listed.at(-1);
      const found = await Promise.all(
        taken.map(({ entry, title }) => look(owner, entry.member, title)),
      );
      conversations.push(...found.filter((each) => each !== undefined));
    }
    const isLast = (await nextInOrder(redis, sessions, last, 1)).length === 0;
    return {
      conversations,
      ...(last && !isLast && { cursor: formatCursor({ sessionId: last.member, at: -last.score }) }),
    };
  };
}
