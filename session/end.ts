import { isTerminal, type RunError, type TerminalStatus } from '../protocol/run.js';
import type { Row } from '../protocol/rows.js';
import { finish, tellNext } from './finish.js';
import type { Stored } from './input.js';
import { pushReply } from './messages.js';
import { speakerOf } from './say.js';
import type { Session } from './tree.js';

export interface End {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that was never committed. */
  row?: Row;
  /** Highest sequence that the run has seen; new entries are numbered above it. */
  floor?: number;
  now: number;
}

export type EndReply =
  /** `next`: queued messages wait. */
  { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' };

/**
 * Makes run, session and stream terminal. A writer that is still active is fenced off. A stop turns the status into
 * `interrupted` or `aborted`, unless the run has failed.
 */
export function end(
  session: Session,
  { runId, agentType, step, row, now, floor = 0, ...input }: Stored<End>,
): EndReply {
  const { record } = session;
  if (record?.run.id !== runId) return { kind: 'superseded' };
  const { run } = record;
  const ended = (status: TerminalStatus): EndReply => ({
    kind: 'ended',
    status,
    ...tellNext(session, session.isConversation && record.queue.length > 0),
  });
  if (isTerminal(run.status)) {
    // The process that ended the run may have died before it told its listeners.
    session.tree.tell({ kind: 'charge_changed' });
    return ended(run.status);
  }
  let { status } = input;
  let reason: string | undefined;
  if (run.stop !== undefined && status !== 'failed') {
    status = run.stop.mode === 'abort' ? 'aborted' : 'interrupted';
    reason = run.stop.reason;
  }
  const { log } = session.tree;
  log.sequence = Math.max(log.sequence, floor);
  if (row !== undefined) pushReply(session, row);
  const hasFailed = status === 'failed';
  const speaker = { ...speakerOf(session, now, step), agentType };
  finish(session, speaker, {
    status,
    reason,
    ...(hasFailed && input.error !== undefined && { error: input.error }),
    code: hasFailed ? 'run_failed' : 'run_stopped',
  });
  return ended(status);
}
