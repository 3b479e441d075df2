import { rootOf } from '../../protocol/ids.js';
import type { Sessions } from '../../stores/contract/sessions.js';

/** Conversations whose users are remembered. */
const MOST = 5_000;

/**
 * Whose share of the tools' places a conversation takes: that of its owner, who never changes.
 *
 * @returns a text that names the user within the tenant
 */
export function createSlotUsers(
  sessions: Pick<Sessions, 'read'>,
): (sessionId: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (sessionId) => {
    const root = rootOf(sessionId);
    const found = known.get(root);
    if (found !== undefined) return found;
    const record = await sessions.read(root);
    const user = record === undefined ? root : JSON.stringify([record.tenant ?? '', record.owner]);
    if (known.size >= MOST) known.delete(known.keys().next().value ?? '');
    known.set(root, user);
    return user;
  };
}
