import { rootOf, runNumberOf, sessionOfRun } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { StoredFile } from '../../stores/contract/files.js';
import type { Sessions } from '../../stores/contract/sessions.js';

/**
 * Finds the files of models that no row leads to any more, because a rewind dropped their replies:
 * those of earlier runs of the conversation, and of the sub-agents that these called. Rows of earlier
 * runs are final, so the answer stays right when an attempt asks late.
 *
 * @param runId a run of the conversation that has no reply yet
 * @param rows all rows of the conversation
 */
export function findDroppedFiles(
  sessions: Pick<Sessions, 'read'>,
  runId: string,
  rows: readonly Row[],
): (file: StoredFile) => Promise<boolean> {
  const root = rootOf(sessionOfRun(runId));
  const dropped = new Map<string, Promise<boolean>>();
  // Wherever a row names one: a user, too, may send a file again that a model made.
  let text: string | undefined;
  const isNamed = (id: string): boolean => (text ??= JSON.stringify(rows)).includes(id);

  return async ({ id, madeBy = '' }) => {
    const [madeIn = ''] = madeBy.split(' ');
    const session = sessionOfRun(madeIn);
    if (rootOf(session) !== root || isNamed(id)) return false;
    if (session === root) return isEarlier(madeIn);
    let isDropped = dropped.get(session);
    if (isDropped === undefined) dropped.set(session, (isDropped = isOfDroppedCall(session)));
    return isDropped;
  };

  function isEarlier(other: string): boolean {
    return runNumberOf(other) < runNumberOf(runId);
  }

  /** The conversation's own call decides about all that came of it, at whatever depth. */
  async function isOfDroppedCall(session: string): Promise<boolean> {
    const parent = (await sessions.read(session))?.parent;
    if (parent === undefined) return false;
    if (parent.sessionId !== root) return isOfDroppedCall(parent.sessionId);
    return isEarlier(parent.runId) && !rows.some((row) => hasCall(row, parent.toolCallId));
  }
}

function hasCall(row: Row, toolCallId: string): boolean {
  if (row.role !== 'assistant') return false;
  return row.parts.some((part) => part.type === 'tool-call' && part.toolCallId === toolCallId);
}
