import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../ai-sdk/index.js';
import type { CompletionRequest } from './protocol.js';
import type { Requests } from '../../../store/contract/requests.js';
import { hashOf } from './conversation.js';

/** Header in which OpenAI's clients number the attempts of a request, from 0. */
export const RETRY_COUNT = 'x-stainless-retry-count';

/** Clients give up a request within half an hour by default. */
const REMEMBERED_MS = 60 * 60 * 1_000;

interface Tried {
  caller: Caller;
  session: string | undefined;
  count: string | undefined;
  body: CompletionRequest;
}

/**
 * Returns an idempotency key for a request without one. OpenAI's clients retry after a timeout or a lost
 * connection, although the request may have been executed. So a retry gets the key of the newest first
 * attempt with the same content.
 *
 * @returns undefined for clients that do not number their attempts
 */
export async function takeRetryKey(
  requests: Pick<Requests, 'claim' | 'drop'>,
  { caller, session, count, body }: Tried,
): Promise<string | undefined> {
  if (count === undefined) return undefined;
  const name = hashOf(['completion', caller.tenantId, caller.userId, session, body]);
  const key = randomUUID();
  // Another first attempt with the same content is a new message.
  if (count === '0') await requests.drop(name);
  const claim = await requests.claim(name, key, REMEMBERED_MS);
  return count === '0' || claim.kind === 'new' ? key : claim.digest;
}
