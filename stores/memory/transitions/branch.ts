import type { BranchInput, BranchResult } from '../../contract/sessions.js';
import { armExpiry } from '../expiry.js';
import { close } from '../finish.js';
import { toJson } from '../json.js';
import type { MemorySession, StoreContext } from '../session.js';
import { startRun } from '../start-run.js';

/** Makes a session out of rows of another one. It is at rest: its run number 0 has completed. */
export function branch(
  session: MemorySession,
  input: BranchInput,
  context: StoreContext,
): BranchResult {
  const { nonce, now } = input;
  const { identity, run } = session;
  if (identity?.born === nonce && run?.mode === 'branch') return { kind: 'branched' };
  if (session.stream !== undefined) return { kind: 'exists' };
  const { agent, owner, tenant = '', turn, messages } = input;
  session.rows.push(...input.rows.map((row) => toJson(row)));
  for (const { id, hash } of messages) session.accepted.set(id, hash);
  for (const row of input.rows) if (row.role === 'tool') session.settled.add(row.toolCallId);
  session.identity = { agent, owner, tenant, createdAt: now, born: nonce };
  session.visibleMessages = input.visibleMessages;
  if (input.state !== undefined) {
    session.stateVersion = 1;
    session.states.set(1, toJson(input.state));
  }
  session.runCount = -1;
  const made = startRun(session, {
    nonce,
    mode: 'branch',
    by: input.by,
    turn: turn.turn,
    startRow: turn.row,
    messageId: turn.messageId,
    startSequence: 0,
    runSequence: 0,
    fromStep: turn.step,
    hasReplied: turn.hasReplied,
    startedAt: now,
  });
  session.stream = 'ended';
  close(session, made, { status: 'completed' }, now);
  armExpiry(session, context);
  return { kind: 'branched' };
}
