import { randomUUID } from 'node:crypto';
import { HelixError } from '../protocol/errors.js';
import type { Row } from '../protocol/rows.js';
import type { CustomState } from '../stores/contract/custom-state.js';
import type { Store } from '../stores/contract/store.js';
import { toUserMessage } from '../stores/record/user-message.js';
import type { AgentExecutor, BranchInput } from './agent-executor.js';
import { describeRows, endOfMessage, endOfStep, withoutOpenCalls } from './branch-rows.js';
import { newNonce } from './reruns.js';

const PAGE = 100;

/** Copies conversations. Reads of the source are not of one moment: what was there first is not lost. */
export function createBranch({
  sessions,
  checkpoints,
  documents,
}: Pick<Store, 'sessions' | 'checkpoints' | 'documents'>): AgentExecutor['branch'] {
  return async (input) => {
    const { sessionId, newSessionId = `s-${randomUUID()}`, by } = input;
    const record = await sessions.read(sessionId);
    if (record === undefined) {
      throw new HelixError('not_found', 'There is no such conversation.');
    }
    const rows = await chooseRows(input);
    if (rows.length === 0) {
      throw new HelixError('nothing_to_do', 'There is nothing yet that could be copied.');
    }
    const state = await stateBehind(sessionId, rows.length);
    const { agent, owner, tenant } = record;
    const { kind } = await sessions.branch({
      sessionId: newSessionId,
      agent,
      owner,
      ...(tenant !== undefined && { tenant }),
      nonce: newNonce(),
      ...(by !== undefined && { by }),
      rows: [...rows],
      messages: rows.flatMap((row) => {
        if (row.role !== 'user') return [];
        const { id, hash } = toUserMessage(row);
        return { id, hash };
      }),
      ...describeRows(rows),
      ...(state !== undefined && { state }),
      now: Date.now(),
    });
    if (kind === 'exists') {
      throw new HelixError('session_exists', 'There is a conversation of that id already.');
    }
    return { sessionId: newSessionId };
  };

  async function chooseRows({
    sessionId,
    checkpointId,
    messageIndex,
  }: BranchInput): Promise<readonly Row[]> {
    const rows = await sessions.rows(sessionId, 0);
    if (checkpointId !== undefined) {
      const checkpoint = await checkpoints.get(sessionId, checkpointId);
      if (checkpoint === null) {
        throw new HelixError('checkpoint_not_found', 'This conversation has no such checkpoint.');
      }
      return withoutOpenCalls(rows.slice(0, endOfStep(rows, checkpoint.messageCount)));
    }
    const end = messageIndex === undefined ? rows.length : endOfMessage(rows, messageIndex);
    if (end === undefined) {
      throw new HelixError('message_not_found', 'This conversation has no such message.');
    }
    return withoutOpenCalls(rows.slice(0, end));
  }

  /** The agent's own state behind so many rows: what the step that came next was asked with. */
  async function stateBehind(sessionId: string, count: number): Promise<CustomState | undefined> {
    let next: string | undefined;
    let cursor: string | undefined;
    do {
      const at = cursor === undefined ? {} : { cursor };
      const page = await checkpoints.list(sessionId, { limit: PAGE, ...at });
      const later = page.checkpoints.filter(({ messageCount }) => messageCount > count);
      next = later.at(-1)?.id ?? next;
      cursor = later.length < page.checkpoints.length ? undefined : page.cursor;
    } while (cursor !== undefined);
    const found = next === undefined ? undefined : await checkpoints.get(sessionId, next);
    const { customState } = found ?? (await documents.readState(sessionId));
    return Object.keys(customState).length === 0 ? undefined : customState;
  }
}
