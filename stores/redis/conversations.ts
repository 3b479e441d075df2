import { randomBytes } from 'node:crypto';
import { createChange, type Change, type Look } from '../../store/change.js';
import { APPEND, createBackend } from '../../store/redis/backend.js';
import type { Evaluate } from '../../store/redis/scripts.js';
import type { KeySpace } from './keys.js';
import { createMake, newerLayout, type Make } from './make-change.js';

/** How long ended streams and sessions are kept, seconds. */
export interface Expiry {
  streamTtlSeconds: number;
  /** 0: no limit. */
  sessionTtlSeconds: number;
}

/** Changes of conversations, and appends to their logs. */
export interface Conversations {
  change: Change;
  look: Look;
  make: Make;
  /** @param args of the script `append` */
  append: (sessionId: string, args: readonly (string | number)[]) => Promise<(number | string)[]>;
}

/** What `append` replies where a newer build has laid out the record. */
const APPEND_NEWER = 6;

/** @param evaluateLarge on the connection for large reads */
export function createConversations(
  { evaluate, evaluateLarge = evaluate }: { evaluate: Evaluate; evaluateLarge?: Evaluate },
  keys: KeySpace,
  { streamTtlSeconds, sessionTtlSeconds }: Expiry,
): Conversations {
  const keep = { streamMs: streamTtlSeconds * 1000, sessionMs: sessionTtlSeconds * 1000 };
  const newVersion = (): string => randomBytes(9).toString('base64url');
  const { change, look } = createChange(
    createBackend({ evaluate, evaluateLarge, prefix: keys.prefix, keep, newVersion }),
  );
  return {
    change,
    look,
    make: createMake(change),
    append: async (sessionId, args) => {
      const words = args.map((word) => String(word).toWellFormed());
      const reply = (await evaluate(APPEND, keys.append(sessionId), words)) as (number | string)[];
      if (reply[0] === APPEND_NEWER) throw newerLayout();
      return reply;
    },
  };
}
