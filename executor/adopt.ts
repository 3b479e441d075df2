import { HelixError } from '../protocol/errors.js';
import { isStoredSessionId } from '../protocol/ids.js';
import type { Store } from '../stores/contract/store.js';
import { toUserMessage } from '../stores/record/user-message.js';
import { describeRows } from './branch.js';
import { FIRST_SWEEP_MS, newNonce } from './reruns.js';
import type { AdoptInput } from './runs.js';

/** Begins idle conversations with rows that were made elsewhere. */
export function createAdopt({
  sessions,
  due,
}: Pick<Store, 'sessions' | 'due'>): (input: AdoptInput) => Promise<boolean> {
  return async ({ rows, ...whose }) => {
    if (!isStoredSessionId(whose.sessionId)) {
      throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
    }
    await due.note(whose.sessionId, FIRST_SWEEP_MS);
    const { kind } = await sessions.branch({
      ...whose,
      rows,
      nonce: newNonce(),
      now: Date.now(),
      messages: rows.flatMap((row) => {
        if (row.role !== 'user') return [];
        const { id, hash } = toUserMessage(row);
        return { id, hash };
      }),
      ...describeRows(rows),
    });
    return kind === 'branched';
  };
}
