import { randomBytes } from 'node:crypto';

/** A session id that no earlier measurement on these servers has used. */
export function newSessionId(): string {
  return `bench-${randomBytes(9).toString('base64url')}`;
}
