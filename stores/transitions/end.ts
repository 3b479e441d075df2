import { redis } from './lib/host.js';
import { finish, readStop, type TerminalStatus } from './lib/finish.js';
import { closeLog, openLog } from './lib/log.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isTerminal, num, readRoot, seqOf } from './lib/root.js';
import { idOf, type Session } from './lib/session.js';
import { pushReply } from './lib/settling.js';

export interface EndRequest {
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: Content;
  /** Partial reply that was never committed. */
  row?: Content;
  now: number;
  /** New entries are numbered above this sequence. */
  floor: number;
}

export const END_FIELDS = [
  'layout',
  'run',
  'status',
  'stop',
  'seq',
  'stream',
  'turn',
  'replied',
] as const;

/**
 * end: makes run, session and stream terminal. It does not need the writer: one that does not
 * answer is fenced off. A stop record turns the status into `interrupted` or `aborted`, unless the
 * run has failed.
 *
 * Checks, in this order: the run is the newest · it has already ended (returns that status).
 *
 * @returns `ended` with the status, and whether a queued message waits · `superseded`
 */
export function end(session: Session, request: EndRequest, args: readonly string[]): string {
  const { runId, agentType, step, now } = request;
  const root = readRoot(session, END_FIELDS);
  if (root.run !== runId) return only('superseded');
  if (isTerminal(root.status)) {
    return ended(root.status ?? '', redis.call('LLEN', session.queue) > 0);
  }
  let { status } = request;
  let reason: string | undefined;
  const stop = readStop(root.stop);
  if (stop !== undefined && status !== 'failed') {
    status = stop.mode === 'abort' ? 'aborted' : 'interrupted';
    reason = stop.reason;
  }
  const seq = seqOf(session);
  const log = openLog(session, seq);
  if (num(seq) < request.floor) {
    log.seq = request.floor;
    log.before = request.floor;
  }
  if (request.row !== undefined) pushReply(session, root, contentAt(args, request.row));
  const hasFailed = status === 'failed';
  const isNext = finish(
    session,
    log,
    { agentId: idOf(session), agentType, step, now },
    {
      status,
      error: hasFailed ? contentAt(args, request.error) : '',
      reason,
      code: hasFailed ? 'run_failed' : 'run_stopped',
    },
  );
  closeLog(log);
  return ended(status, isNext);
}

function ended(status: string, isNext: boolean): string {
  return `{"kind":"ended","status":"${status}"${isNext ? ',"next":true' : ''}}`;
}
