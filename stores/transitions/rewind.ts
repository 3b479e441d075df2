import { redis } from './lib/host.js';
import { accept, acceptedHash } from './lib/accepted.js';
import { notePlaces, wasElsewhere } from './lib/carry-over.js';
import { checkpointAt } from './lib/checkpoints.js';
import { ownChunk, speakerOf } from './lib/chunks.js';
import { recountControls, removeAfter } from './lib/controls.js';
import { dropRows } from './lib/dropped-rows.js';
import { int, nullable, text } from './lib/json.js';
import { closeLog, openLog, write } from './lib/log.js';
import {
  storeMessages,
  toStored,
  type MessageArgument,
  type StoredMessage,
} from './lib/messages.js';
import { newestTurn, noteTurn, readMessagePlace } from './lib/places.js';
import { MORE, only } from './lib/request.js';
import { isStateKept, restoreState } from './lib/restored-state.js';
import { findTarget, type Target } from './lib/rewind-target.js';
import { noteRewind } from './lib/rewinds.js';
import { isLive, num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { isRunOf, newestRunJson, nextRun, startRun } from './lib/start-run.js';

export interface RewindRequest {
  /** The run that is expected to be the newest. */
  runId: string;
  nonce: string;
  now: number;
  mode: 'retry' | 'from_checkpoint';
  /** Who asked. */
  by: string;
  /** Of mode `from_checkpoint`. */
  checkpointId?: string;
  /** Of mode `retry`: a message of the turn; the newest turn when absent. */
  messageId?: string;
  /** Messages that take the place of that one, a user's, and of all behind it. */
  messages: MessageArgument[];
}

const FIELDS = [
  'agent',
  'run',
  'runN',
  'status',
  'seq',
  'turn',
  'turnRow',
  'turnSeq',
  'messageId',
] as const;

/**
 * rewind: takes the session back to a checkpoint, or to the beginning of a turn, and makes the run
 * that continues from there. What comes later is dropped: rows, checkpoints, changes of the state,
 * entries.
 */
export function rewind(session: Session, request: RewindRequest, args: readonly string[]): string {
  const { mode, nonce } = request;
  const root = readRoot(session, FIELDS);
  if (root.agent === undefined) return only('not_found');
  if (isRunOf(root.run, nonce)) return `{"kind":"rewound","run":{${newestRunJson(session)}}}`;
  const newestRun = `"runId":${text(root.run ?? '')}`;
  if (isLive(root.status)) return `{"kind":"busy",${newestRun}}`;
  if (root.run !== request.runId) return `{"kind":"stale_run",${newestRun}}`;

  const newest = newestTurn(root);
  wasElsewhere(session, newest);
  // The place of a message says whether it stays.
  if (request.messages.length > 0 && !notePlaces(session, newest)) return MORE;
  const { checkpointId, messageId } = request;
  const isEdited = request.messages.length > 0;
  const target = findTarget(session, newest, { checkpointId, messageId, isEdited });
  if (target === 'more') return MORE;
  if (typeof target === 'string') return only(target);
  const edited = toStored(request.messages, args);
  for (const { id } of edited) {
    if (stays(session, id, target.rows)) return `{"kind":"conflict","messageId":${text(id)}}`;
  }
  if (!isStateKept(session, target)) {
    return only(mode === 'retry' ? 'message_not_found' : 'checkpoint_not_found');
  }
  if (!removeAfter(session, target.sequence)) return MORE;
  recountControls(session);
  noteRewind(session, target.turn, num(root.runN), mode);
  restoreState(session, target);
  dropRows(session, target.rows);
  redis.call('LTRIM', session.checkpoints, 0, target.checkpoints - 1);
  if (target.checkpoints === 0) redis.call('UNLINK', session.checkpoints);
  const checkpoint = checkpointAt(session, target.checkpoints - 1)?.id;
  if (checkpoint === undefined) redis.call('HDEL', session.root, 'checkpoint');
  else redis.call('HSET', session.root, 'checkpoint', checkpoint);
  startAgain(session, request, target, edited, checkpoint);
  return `{"kind":"rewound","run":{${newestRunJson(session)}}}`;
}

/** A message that stays in the transcript, or waits for its turn. */
function stays(session: Session, id: string, rows: number): boolean {
  if (acceptedHash(session, id) === undefined) return false;
  const place = readMessagePlace(session, id);
  return place === undefined || place.row < rows;
}

/** Stores what replaces a message, tells viewers, and makes the run. */
function startAgain(
  session: Session,
  { nonce, now, mode, by }: RewindRequest,
  target: Target,
  edited: readonly StoredMessage[],
  checkpoint: string | undefined,
): void {
  const { turn, step } = target;
  let { shown } = target;
  if (edited.length > 0) {
    accept(session, edited);
    shown = storeMessages(session, edited, int(shown), turn.turn).shown;
  }
  const root = readRoot(session, ['seq', 'agent', 'runN']);
  const { id, n } = nextRun(session, root.runN, nonce);
  const log = openLog(session, root.seq);
  const speaker = speakerOf(session, root.agent, int(step), now);
  const rows = int(redis.call('LLEN', session.rows));
  const kept = `"checkpointId":${text(checkpoint ?? '')},"stepCount":${int(step)}`;
  const place = `"messageCount":${rows},"fromSequence":${int(log.seq)}`;
  const isRetry = mode === 'retry';
  const why = `"reason":"${isRetry ? 'retry' : 'rollback'}"`;
  write(log, ownChunk(speaker, 'stream_resync', `${kept},${place},${why}`));
  const seq = log.seq;
  if (!isRetry) {
    const from = `"fromCheckpointId":${nullable(checkpoint)},"fromStepCount":${int(step)}`;
    const body = `"runId":${text(id)},${from},"mode":"${mode}"`;
    write(log, ownChunk(speaker, 'run_resumed', body));
  }
  closeLog(log);
  const replied = target.hasReplied ? int(turn.turn) : '';
  redis.call('HSET', session.root, 'born', nonce, 'rewound', 1, 'replied', replied);
  // How many control messages come before a turn is known when it begins only.
  redis.call('HDEL', session.root, 'turnControls');
  const message = isRetry ? `msg-${int(shown)}` : turn.messageId;
  const turnSeq = isRetry ? seq : turn.seq;
  noteTurn(session, { turn: turn.turn, row: turn.row, seq: turnSeq, messageId: message });
  const run = { id, n, mode, by, turn: turn.turn, message, turnSeq, turnRow: turn.row, seq, step };
  startRun(session, run, log.seq, now, ['uiCount', shown]);
}
