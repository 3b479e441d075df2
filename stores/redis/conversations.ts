import { randomBytes } from 'node:crypto';
import { createChange, type Change, type Look } from '../../store/change.js';
import { createBackend } from '../../store/redis/backend.js';
import type { Evaluate } from '../../store/redis/scripts.js';
import type { KeySpace } from './keys.js';
import { createMake, type Make } from './make-change.js';

/** How long ended streams and sessions are kept, seconds. */
export interface Expiry {
  streamTtlSeconds: number;
  /** 0: no limit. */
  sessionTtlSeconds: number;
  /** Entries that a stream may have before whole old turns are trimmed; 0: no limit. */
  maxChunks: number;
}

/** Changes of conversations. */
export interface Conversations {
  change: Change;
  look: Look;
  make: Make;
}

/** @param evaluateLarge on the connection for large reads */
export function createConversations(
  { evaluate, evaluateLarge = evaluate }: { evaluate: Evaluate; evaluateLarge?: Evaluate },
  keys: KeySpace,
  { streamTtlSeconds, sessionTtlSeconds, maxChunks }: Expiry,
): Conversations {
  const keep = {
    streamMs: streamTtlSeconds * 1000,
    sessionMs: sessionTtlSeconds * 1000,
    entries: maxChunks,
  };
  const newVersion = (): string => randomBytes(9).toString('base64url');
  const { change, look } = createChange(
    createBackend({ evaluate, evaluateLarge, prefix: keys.prefix, keep, newVersion }),
  );
  return { change, look, make: createMake(change) };
}
