import { byteLength, cjson, redis } from './lib/host.js';
import { PAGE } from './lib/attempts.js';
import { ownChunk, speakerOf } from './lib/chunks.js';
import { recountControls } from './lib/controls.js';
import { jsonOf, writerOf } from './lib/entries.js';
import { int, nullable, text } from './lib/json.js';
import { closeLog, openLog, sequenceOf, write } from './lib/log.js';
import { noteAct } from './lib/outbox.js';
import { joinAskers, noteAskers, noteRunOf } from './lib/places.js';
import { MORE, only, type Content } from './lib/request.js';
import { isTerminal, num, readRoot, setFields } from './lib/root.js';
import { readHead } from './lib/rows.js';
import type { Session } from './lib/session.js';
import { countDroppedLog } from './lib/size.js';
import { isRunOf, newestRunJson, nextRun, startRun } from './lib/start-run.js';

export interface ResumeRunRequest {
  /** The run to continue; absent: the newest one. */
  runId?: string;
  nonce: string;
  now: number;
  mode: string;
  /** The requester. */
  by: string;
  /** The same as JSON, see lib/places. */
  asker: string;
  /** The entry of the audit trail. */
  act?: Content;
}

export const RESUME_FIELDS = [
  'layout',
  'agent',
  'run',
  'runN',
  'status',
  'error',
  'committed',
  'claimed',
  'turnRow',
  'runSeq',
  'seq',
  'checkpoint',
  'turn',
  'messageId',
  'turnSeq',
  'openSeq',
  'tenant',
  'askers',
] as const;

/**
 * resume run: starts a new run for the turn of a run that was interrupted, or that failed in a way
 * that may be temporary. It continues after the last step that the transcript has.
 *
 * Checks, in this order: the session exists · this nonce already started a run (same reply) · no
 * run is active · the requested run is the newest · its end allows another run.
 *
 * @returns `resumed` with the run · `not_found` · `active` · `stale_run` · `final` · `more`, send
 * the request again
 */
export function resumeRun(
  session: Session,
  request: ResumeRunRequest,
  args: readonly string[],
): string {
  const { runId, nonce, now, mode, by, asker } = request;
  const root = readRoot(session, RESUME_FIELDS);
  if (root.agent === undefined) return only('not_found');
  if (isRunOf(root.run, nonce)) return `{"kind":"resumed","run":{${newestRunJson(session)}}}`;
  const newest = `"runId":${text(root.run ?? '')}`;
  if (!isTerminal(root.status)) return `{"kind":"active",${newest}}`;
  if (runId !== undefined && runId !== root.run) return `{"kind":"stale_run",${newest}}`;
  if (root.status !== 'interrupted' && !mayPass(root.status, root.error)) {
    return `{"kind":"final","status":"${root.status ?? ''}"}`;
  }
  const claimed = num(root.claimed);
  const step = lastStep(session, num(root.committed), num(root.turnRow));
  // The unfinished step is repeated under the same number, so its entries are removed.
  if (claimed > step) {
    const first = Math.max(num(root.openSeq), num(root.runSeq));
    if (!removeStep(session, first, `m${int(claimed)}`)) return MORE;
  }
  recountControls(session);
  const log = openLog(session, root.seq);
  const { id, n } = nextRun(session, root.runN, nonce);
  const from = `"fromCheckpointId":${nullable(root.checkpoint)},"fromStepCount":${int(step)}`;
  const speaker = speakerOf(session, root.agent, int(step), now);
  write(log, ownChunk(speaker, 'run_resumed', `"runId":${text(id)},${from},"mode":${text(mode)}`));
  closeLog(log);
  const run = {
    id,
    n,
    mode,
    by,
    turn: num(root.turn),
    message: root.messageId ?? '',
    turnSeq: num(root.turnSeq),
    turnRow: num(root.turnRow),
    seq: log.before,
    step,
  };
  noteRunOf(session, run.turn, id);
  noteAskers(session, run.turn, joinAskers(root.askers, asker));
  startRun(session, run, log.seq, now);
  noteAct(session, args, request.act, 'begun', { tenant: root.tenant, runId: id });
  return `{"kind":"resumed","run":{${newestRunJson(session)}}}`;
}

function mayPass(status: string | undefined, error: string | undefined): boolean {
  if (status !== 'failed' || error === undefined) return false;
  return (cjson.decode(error) as { retryable?: boolean }).retryable === true;
}

/**
 * A reply that was rebuilt from the log after its writer died is in the transcript but has no
 * commit.
 */
function lastStep(session: Session, committed: number, turnRow: number): number {
  for (let at = redis.call('LLEN', session.rows) - 1; at >= turnRow; at -= 1) {
    const row = redis.call('LINDEX', session.rows, int(at));
    const head = row === false ? undefined : readHead(row);
    if (head?.role === 'assistant') return Math.max(committed, head.step ?? 0);
  }
  return committed;
}

/** Removes a page of a writer's entries; true if none are left. */
function removeStep(session: Session, after: number, writer: string): boolean {
  const page = redis.call('XRANGE', session.stream, `(${int(after)}-0`, '+', 'COUNT', int(PAGE));
  const ids: string[] = [];
  let last = '';
  let bytes = 0;
  for (const [id, entry] of page) {
    if (writerOf(entry) === writer) {
      ids.push(id);
      bytes += byteLength(jsonOf(entry));
    }
    last = id;
  }
  if (ids.length > 0) redis.call('XDEL', session.stream, ...ids);
  countDroppedLog(session, bytes);
  if (page.length < PAGE) return true;
  setFields(session, ['openSeq', int(sequenceOf(last))]);
  return false;
}
