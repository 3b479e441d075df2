import { formatInt, redis } from './host.js';
import { ownChunk, speakerOf } from './chunks.js';
import { trimOldTurns } from './controls.js';
import { persist } from './expiry.js';
import { field, int, nullable, stored, text } from './json.js';
import { closeLog, write, type Log } from './log.js';
import { RECORD_LAYOUT } from './layout.js';
import { idsJson, storeMessages, type StoredMessage } from './messages.js';
import { noteAskers } from './places.js';
import { dropFields, giveFields, num, readField, readRoot, type Root } from './root.js';
import { idOf, type Session } from './session.js';
import { addNotices } from './settling.js';
import { countDroppedLog } from './size.js';

/** A run that becomes the newest one of its session. */
export interface NewRun {
  id: string;
  n: number;
  mode: string;
  by: string;
  turn: number;
  /** UI message id of the turn's reply. */
  message: string;
  /** Sequence before the turn's first entry. */
  turnSeq: number;
  turnRow: number;
  /** Sequence before the run's first entry. */
  seq: number;
  /** Number of the last committed step of the turn. */
  step: number;
  /** True if the session has no earlier run. */
  isFirst?: boolean;
}

/** Number of names and values that a run never has as zeros. */
const NEVER_ZERO = 22;

/** The first run of a session leaves out what is 0 or ''. */
function dropZeros(changes: string[]): void {
  let end = NEVER_ZERO;
  for (let at = NEVER_ZERO; at < changes.length; at += 2) {
    const value = changes[at + 1] as string;
    if (value === '0' || value === '') continue;
    changes[end] = changes[at] as string;
    changes[end + 1] = value;
    end += 2;
  }
  changes.length = end;
}

/** What belonged to the run before; its end has removed what is about a run that is active. */
const FORGOTTEN = [
  'error',
  'streamError',
  'interrupted',
  'snapTurn',
  'snapAt',
  'usage',
  'finishReason',
  'output',
  'outputRef',
  'children',
  'openSeq',
  'legs',
  'legAt',
  'legUsed',
] as const;

/**
 * Makes a run the newest one of its session and active.
 *
 * @param newest sequence of the newest entry
 * @param alongside further fields of the root
 */
export function startRun(
  session: Session,
  run: NewRun,
  newest: number,
  now: number,
  alongside: readonly string[] = [],
): void {
  if (run.isFirst !== true) {
    persist(session);
    // Those of a stream that had no run.
    if (run.n <= 1) redis.call('UNLINK', session.busy, session.writers, session.order);
    dropFields(session, FORGOTTEN);
  } else if (readField(session, 'branching') !== undefined) {
    // A copy that was never completed would expire.
    persist(session);
  }
  const at = formatInt(now);
  const begin = formatInt(run.seq);
  const step = formatInt(run.step);
  // A small hash is searched from its beginning: what is read most often stands there.
  // prettier-ignore
  const changes = [
    'run', run.id, 'status', 'starting', 'stream', 'active', 'seq', formatInt(newest),
    'turn', formatInt(run.turn), 'messageId', run.message,
    'layout', RECORD_LAYOUT, 'runN', formatInt(run.n),
    'mode', run.mode, 'started', at, 'updated', at,
    'committed', step, 'outcome', '', 'claimed', step, 'turnSeq', formatInt(run.turnSeq),
    'turnRow', formatInt(run.turnRow), 'by', run.by, 'runSeq', begin, 'pauseSeq', begin,
    'fromStep', step,
  ];
  let end = changes.length;
  for (const each of alongside) {
    changes[end] = each;
    end += 1;
  }
  if (run.isFirst === true) dropZeros(changes);
  giveFields(session, changes);
}

/** Id and number of the session's next run. */
export function nextRun(
  session: Session,
  runN: string | undefined,
  nonce: string,
): { id: string; n: number } {
  const n = num(runN) + 1;
  return { id: `${idOf(session)}:${formatInt(n)}-${nonce}`, n };
}

/** True if this nonce created the session's newest run. */
export function isRunOf(run: string | undefined, nonce: string): boolean {
  return run?.endsWith(`-${nonce}`) === true;
}

/** Who has asked for a run, if that is not the owner of its session. */
export function strangerOf(by: string | undefined, owner: string | undefined): string {
  return by === undefined || by === owner ? '' : by;
}

/** What a turn is made of. */
export interface NewTurn {
  agent: string;
  nonce: string;
  now: number;
  /** Entries that the log may have before old turns are trimmed; 0: no limit. */
  cap: number;
  messages: StoredMessage[];
  /** True if the messages were queued. */
  waited: boolean;
  /** `new`, or `with_message` for a run that continues after an ended one. */
  mode: string;
  by: string;
  /** Who asks by the messages, see lib/places. */
  askers: string;
}

/** What `makeTurn` begins with. */
export const TURN_FIELDS = [
  'turn',
  'runN',
  'checkpoint',
  'committed',
  'uiCount',
  'controls',
  'turnSeq',
  'turnRow',
  'messageId',
  'turnControls',
  'stream',
  'bytes',
  'logBytes',
  'logTurn',
] as const;

/** Creates a turn and its run for user messages, and closes the log. */
export function makeTurn(
  session: Session,
  log: Log,
  made: NewTurn,
  root: Root<(typeof TURN_FIELDS)[number]> = readRoot(session, TURN_FIELDS),
): NewRun {
  const { agent, nonce, now, mode, messages } = made;
  const { id, n } = nextRun(session, root.runN, nonce);
  const turn = num(root.turn) + 1;
  const start = log.seq;
  if (turn > 1) addNotices(session);
  const { row, shown } = storeMessages(session, messages, root.uiCount, turn, id, start);
  noteAskers(session, turn, made.askers);
  let controls = num(root.controls);
  let logBytes = num(root.logBytes);
  if (n > 1 || controls > 0) {
    const entries = redis.call('XLEN', session.stream);
    if (entries === 0) controls = 0;
    if (n > 1 && made.cap > 0 && entries > made.cap) {
      // Only whole old turns are trimmed. The previous turn stays, since a reader may be at its
      // end.
      controls = trimOldTurns(session, root);
      countDroppedLog(session, num(root.logTurn));
      logBytes -= num(root.logTurn);
    } else if (n > 1 && entries === 0) {
      countDroppedLog(session, logBytes);
      logBytes = 0;
    }
  }
  const message = `msg-${formatInt(shown)}`;
  const speaker = speakerOf(session, agent, undefined, now);
  const run = `"runId":${text(id)}`;
  if (made.waited) {
    const about = `"messageId":"${message}","messageIds":${idsJson(messages)}`;
    write(log, ownChunk(speaker, 'turn_started', `${run},${about},"reason":"queue"`));
  }
  if (mode === 'with_message') {
    const from = `"fromCheckpointId":${nullable(root.checkpoint)}`;
    const at = `"fromStepCount":${stored(root.committed)}`;
    write(log, ownChunk(speaker, 'run_resumed', `${run},${from},${at},"mode":"with_message"`));
  }
  closeLog(log);
  const newRun: NewRun = {
    id,
    n,
    mode,
    by: made.by,
    turn,
    message,
    turnSeq: start,
    turnRow: row,
    seq: start,
    step: 0,
    isFirst: root.stream === undefined,
  };
  const count = formatInt(controls);
  const counts = ['uiCount', formatInt(shown), 'controls', count, 'turnControls', count];
  counts.push('logTurn', formatInt(logBytes));
  startRun(session, newRun, log.seq, now, counts);
  return newRun;
}

/** A run as callers get it, without the braces. */
export function runJson(
  session: Session,
  agent: string,
  run: Pick<NewRun, 'id' | 'turn' | 'message' | 'turnSeq' | 'step' | 'seq'>,
  startedAt: number,
): string {
  const which = `"sessionId":${text(idOf(session))},"runId":${text(run.id)},"agent":${text(agent)}`;
  const turn = `"turn":${int(run.turn)},"messageId":${text(run.message)}`;
  const from = run.step > 0 ? `{"step":${int(run.step)},"known":${int(run.seq)}}` : '';
  const begin = `"startSequence":${int(run.turnSeq)},"startedAt":${int(startedAt)}`;
  return `${which},${turn},${begin}${field('from', from)}`;
}

const NEWEST = [
  'run',
  'agent',
  'turn',
  'messageId',
  'turnSeq',
  'fromStep',
  'runSeq',
  'started',
] as const;

/** The session's newest run, as callers get it. */
export function newestRunJson(session: Session): string {
  const root = readRoot(session, NEWEST);
  const run = {
    id: root.run ?? '',
    turn: num(root.turn),
    message: root.messageId ?? '',
    turnSeq: num(root.turnSeq),
    step: num(root.fromStep),
    seq: num(root.runSeq),
  };
  return runJson(session, root.agent ?? '', run, num(root.started));
}
