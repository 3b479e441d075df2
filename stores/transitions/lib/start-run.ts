import { formatInt, redis } from './host.js';
import { ownChunk, speakerOf } from './chunks.js';
import { wasElsewhere } from './carry-over.js';
import { controlsIn, trimOldTurns } from './controls.js';
import { persist } from './expiry.js';
import { field, int, nullable, stored, text } from './json.js';
import { closeLog, write, type Log } from './log.js';
import { idsJson, storeMessages, type StoredMessage } from './messages.js';
import { newestTurn } from './places.js';
import { num, readRoot } from './root.js';
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

/** Fields of the previous run. */
const FORGOTTEN = [
  'stop',
  'error',
  'streamError',
  'interrupted',
  'resume',
  'taken',
  'snapTurn',
  'snapAt',
  'usage',
  'finishReason',
  'output',
  'outputRef',
  'children',
  'openSeq',
];

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
  alongside: readonly (string | number)[] = [],
): void {
  persist(session);
  if (run.isFirst !== true) {
    redis.call('UNLINK', session.busy, session.writers, session.order);
    redis.call('HDEL', session.root, ...FORGOTTEN);
  }
  const fields: (string | number)[] = [
    'run',
    run.id,
    'runN',
    run.n,
    'mode',
    run.mode,
    'by',
    run.by,
  ];
  fields.push('turn', run.turn, 'status', 'starting', 'stream', 'active', 'messageId', run.message);
  fields.push('turnSeq', run.turnSeq, 'turnRow', run.turnRow, 'runSeq', run.seq);
  fields.push('fromStep', run.step, 'outcome', '', 'seq', newest, 'pauseSeq', run.seq);
  fields.push('claimed', run.step, 'committed', run.step, 'started', now, 'updated', now);
  fields.push('layout', session.settings.layout);
  for (const each of alongside) fields.push(each);
  redis.call('HSET', session.root, ...fields);
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
}

const BEFORE = [
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
  'logBytes',
  'logTurn',
] as const;

/** Creates a turn and its run for user messages, and closes the log. */
export function makeTurn(session: Session, log: Log, made: NewTurn): NewRun {
  const { agent, nonce, now, mode, messages } = made;
  const root = readRoot(session, BEFORE);
  const { id, n } = nextRun(session, root.runN, nonce);
  const turn = num(root.turn) + 1;
  const start = log.seq;
  if (wasElsewhere(session, newestTurn(root))) root.turnControls = undefined;
  addNotices(session);
  const { row, shown } = storeMessages(session, messages, root.uiCount, turn, start);
  let controls = controlsIn(session, root.controls);
  let logBytes = num(root.logBytes);
  if (n > 1) {
    const entries = redis.call('XLEN', session.stream);
    if (made.cap > 0 && entries > made.cap) {
      // Only whole old turns are trimmed. The previous turn stays, since a reader may be at its
      // end.
      controls = trimOldTurns(session, root);
      countDroppedLog(session, num(root.logTurn));
      logBytes -= num(root.logTurn);
    } else if (entries === 0) {
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
  const counts = ['uiCount', shown, 'controls', controls, 'turnControls', controls];
  counts.push('logTurn', logBytes);
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

const NEWEST = ['run', 'agent', 'turn', 'messageId', 'turnSeq', 'fromStep', 'runSeq'] as const;

/** The session's newest run, as callers get it. */
export function newestRunJson(session: Session): string {
  const root = readRoot(session, NEWEST);
  const { started } = readRoot(session, ['started']);
  const run = {
    id: root.run ?? '',
    turn: num(root.turn),
    message: root.messageId ?? '',
    turnSeq: num(root.turnSeq),
    step: num(root.fromStep),
    seq: num(root.runSeq),
  };
  return runJson(session, root.agent ?? '', run, num(started));
}
