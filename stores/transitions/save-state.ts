import { redis } from './lib/host.js';
import { expireWithRoot } from './lib/expiry.js';
import { int } from './lib/json.js';
import { contentAt, only, type Content } from './lib/request.js';
import { num, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';
import { putState } from './lib/state.js';

export interface SaveStateRequest {
  expectedVersion: number;
  state: Content;
  /** Distinguishes a repeated request from another one. */
  nonce: string;
  /** Staged changes that are part of this state, each with its version when it was read. */
  taken: { stepId: string; toolCallId: string; n: number }[];
  now: number;
}

/**
 * save state: replaces the agent's own state if it still has the expected version, and removes the
 * staged changes that went into it.
 *
 * Checks, in this order: the session exists · the same request was served (same reply) · expected
 * version · each staged change is unchanged.
 *
 * @returns `saved` with the version · `stale` · `not_found`
 */
export function saveState(
  session: Session,
  { expectedVersion, state, nonce, taken, now }: SaveStateRequest,
  args: readonly string[],
): string {
  const root = readRoot(session, ['agent', 'stateV', 'stateBy']);
  if (root.agent === undefined) return only('not_found');
  const version = num(root.stateV);
  if (version === expectedVersion + 1 && root.stateBy === nonce) return saved(version);
  if (version !== expectedVersion) return only('stale');
  const fields: string[] = [];
  for (const { stepId, toolCallId, n } of taken) {
    const staged = redis.call('HGET', session.staged, `${stepId}/${toolCallId}`);
    if (staged === false || !staged.startsWith(`${int(n)} `)) return only('stale');
    fields.push(`${stepId}/${toolCallId}`);
  }
  if (fields.length > 0) redis.call('HDEL', session.staged, ...fields);
  const next = putState(session, contentAt(args, state));
  setFields(session, ['updated', int(now), 'stateBy', nonce]);
  expireWithRoot(session);
  return saved(next);
}

function saved(version: number): string {
  return `{"kind":"saved","version":${int(version)}}`;
}
