import type { Conversation } from './conversation.js';
import type { AnyRedis } from './leaks.js';
import type { Kind } from './verdict.js';

/**
 * Faults that a soak has to notice: each is put into the record behind the product's back, when all
 * conversations rest.
 */
export async function plant(
  kind: Kind,
  redis: AnyRedis,
  conversations: readonly Conversation[],
): Promise<void> {
  const keyOf = ({ sessionId }: Conversation, name: string): string => `hx:{${sessionId}}:${name}`;
  switch (kind) {
    case 'lost':
      return editWord(redis, conversations, keyOf, '');
    case 'doubled':
      return editWord(redis, conversations, keyOf, '$& $&');
    case 'stuck': {
      // Not the one whose words are edited.
      const last = conversations.at(-1);
      if (last !== undefined) await redis.hset(keyOf(last, 'root'), 'stream', 'active');
      return;
    }
    case 'twice':
      await redis.hincrby('lab:charges', 'planted', 2);
      return;
    case 'leaked':
      await redis.set(`hx:{${conversations[0]?.sessionId ?? ''}}:planted`, '1');
  }
}

/** Replaces the first word of a stored reply. */
async function editWord(
  redis: AnyRedis,
  conversations: readonly Conversation[],
  keyOf: (conversation: Conversation, name: string) => string,
  replacement: string,
): Promise<void> {
  for (const conversation of conversations) {
    const key = keyOf(conversation, 'rows');
    for (const [at, row] of (await redis.lrange(key, 0, -1)).entries()) {
      if (!row.includes('"role":"assistant"')) continue;
      const edited = row.replace(/t\d+w\d+/, replacement);
      if (edited === row) continue;
      await redis.lset(key, at, edited);
      return;
    }
  }
}
