import { isOver } from './record.js';
import type { RunError, TerminalStatus } from '../protocol/run.js';
import { finish, tellNext } from './finish.js';
import { pushReply } from './messages.js';
import { speakerOf } from './say.js';
import type { Session } from './tree.js';

export interface End {
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that was never committed, as JSON. */
  row?: string;
  now: number;
  /** New entries are numbered above this sequence. */
  floor: number;
}

/**
 * Makes run, session and stream terminal. It does not need the writer: one that does not answer is fenced off. A stop
 * turns the status into `interrupted` or `aborted`, unless the run has failed.
 */
export function end(
  session: Session,
  { runId, agentType, step, row, now, floor, ...input }: End,
): { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' } {
  const { record } = session;
  if (record?.run.id !== runId) return { kind: 'superseded' };
  const { run } = record;
  const ended = (
    status: TerminalStatus,
  ): { kind: 'ended'; status: TerminalStatus; next?: true } => ({
    kind: 'ended',
    status,
    ...tellNext(session, session.isConversation && record.queue.length > 0),
  });
  if (isOver(run.status)) return ended(run.status);
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
