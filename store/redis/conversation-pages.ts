import type { Owners } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import { titleOf } from '../record/conversation-title.js';
import type { Charged } from './charge.js';
import type { RedisContext } from './context.js';
import { isSame } from './keys.js';
import { readListPage } from './scored-list.js';

/** A search reads the titles of this many entries at once. */
const SEARCHED = 100;
/** Number of rows searched for the title of a conversation without one. */
const TITLE_ROWS = 5;

interface Reads {
  read: (sessionId: string) => Promise<Charged | undefined>;
  fold: Owners['fold'];
  readRows: Sessions['rows'];
}

/** Reads the list of an owner's conversations, and removes those that no longer exist. */
export function createConversationPages(
  { redis, keys }: RedisContext,
  { read, fold, readRows }: Reads,
): Owners['page'] {
  return async (owner, { limit, cursor, search = '' }) => {
    const { sessions, titles } = keys.owner(owner);
    const wanted = search.toLowerCase();
    const atOnce = search === '' ? undefined : SEARCHED;

    const titlesOf = async (ids: readonly string[]): Promise<string[]> => {
      const stored = await redis.hmget(titles, ...ids);
      return Promise.all(
        ids.map(async (id, at) => stored[at] ?? titleOf(await readRows(id, 0, TITLE_ROWS))),
      );
    };

    const { items: conversations, ...page } = await readListPage(
      redis,
      sessions,
      { limit, cursor, atOnce, sign: -1 },
      async (listed, room) => {
        const found = await titlesOf(listed.map(({ member }) => member));
        const matches = listed.flatMap((entry, at) => {
          const title = found[at] ?? '';
          return title.toLowerCase().includes(wanted) ? [{ entry, title }] : [];
        });
        const taken = matches.slice(0, room);
        const items = taken.map(async ({ entry: { member: sessionId }, title }) => {
          const charged = await read(sessionId);
          if (charged !== undefined && isSame(charged.owner, owner)) {
            const { agent, status, figures } = charged;
            return [{ sessionId, title, agent, status, updatedAt: figures.updated }];
          }
          await fold(sessionId, owner);
          return [];
        });
        const last = taken.length < matches.length ? taken.at(-1)?.entry : listed.at(-1);
        return { items: (await Promise.all(items)).flat(), last };
      },
    );
    return { conversations, ...page };
  };
}
