import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../ai-sdk/index.js';
import type { CompletionRequest } from './protocol.js';
import type { Requests } from '../../../store/contract/requests.js';
import { hashOf } from './conversation.js';

/** Which try of a request this is, from 0; clients made by OpenAI say so with each. */
export const RETRY_COUNT = 'x-stainless-retry-count';

/** Clients give up a request within half an hour, by their defaults. */
const REMEMBERED_MS = 60 * 60 * 1_000;

interface Tried {
  caller: Caller;
  /** Value of `x-session-id`. */
  session: string | undefined;
  /** Value of `x-stainless-retry-count`. */
  count: string | undefined;
  body: CompletionRequest;
}

/**
 * A key for a request that has none. Clients of OpenAI repeat a request automatically after a timeout
 * or a lost connection, which says nothing about whether it was carried out: a later try gets the key of
 * the newest first try with its content.
 *
 * @returns undefined for clients that do not say which try it is
 */
export async function takeRetryKey(
  requests: Pick<Requests, 'claim' | 'drop'>,
  { caller, session, count, body }: Tried,
): Promise<string | undefined> {
  if (count === undefined) return undefined;
  const name = hashOf(['completion', caller.tenantId, caller.userId, session, body]);
  const key = randomUUID();
  // The same content in another first try is another message.
  if (count === '0') await requests.drop(name);
  const claim = await requests.claim(name, key, REMEMBERED_MS);
  return count === '0' || claim.kind === 'new' ? key : claim.digest;
}
