import { redis } from './lib/host.js';
import { accept, acceptedHash } from './lib/accepted.js';
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
import {
  joinAskers,
  newestTurn,
  noteAskers,
  noteRunOf,
  noteTurn,
  readAskers,
  readMessagePlace,
} from './lib/places.js';
import { noteAct } from './lib/outbox.js';
import { MORE, only, type Content } from './lib/request.js';
import { isStateKept, restoreState } from './lib/restored-state.js';
import { findTarget, type Target } from './lib/rewind-target.js';
import { noteRewind } from './lib/rewinds.js';
import { dropFields, isLive, num, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';
import { isRunOf, newestRunJson, nextRun, startRun } from './lib/start-run.js';

export interface RewindRequest {
  /** The run that the requester expects to be the newest. */
  runId: string;
  nonce: string;
  now: number;
  mode: 'retry' | 'from_checkpoint';
  /** The requester. */
  by: string;
  /** The same as JSON, see lib/places. */
  asker: string;
  /** For mode `from_checkpoint`. */
  checkpointId?: string;
  /** For mode `retry`: a message of the turn; absent: the newest turn. */
  messageId?: string;
  /** Messages that replace that message of a user and everything after it. */
  messages: MessageArgument[];
  /** The entry of the audit trail. */
  act?: Content;
}

export const REWIND_FIELDS = [
  'layout',
  'agent',
  'run',
  'runN',
  'status',
  'seq',
  'turn',
  'turnRow',
  'turnSeq',
  'messageId',
  'tenant',
] as const;

/**
 * rewind: takes the session back to a checkpoint or to the beginning of a turn, and starts the run
 * that continues from there. Everything later is dropped: rows, checkpoints, changes of the state,
 * log entries.
 *
 * Checks, in this order: the session exists · this nonce already started a run (same reply) · no
 * run is active · the expected run is the newest · the target exists · the replacing messages are
 * new · the state of the target is still stored. All checks precede the first removal.
 *
 * @returns `rewound` with the run · `not_found` · `busy` · `stale_run` · `message_not_found` ·
 * `checkpoint_not_found` · `conflict` · `more`, send the request again
 */
export function rewind(session: Session, request: RewindRequest, args: readonly string[]): string {
  const { mode, nonce } = request;
  const root = readRoot(session, REWIND_FIELDS);
  if (root.agent === undefined) return only('not_found');
  if (isRunOf(root.run, nonce)) return `{"kind":"rewound","run":{${newestRunJson(session)}}}`;
  const newestRun = `"runId":${text(root.run ?? '')}`;
  if (isLive(root.status)) return `{"kind":"busy",${newestRun}}`;
  if (root.run !== request.runId) return `{"kind":"stale_run",${newestRun}}`;

  const newest = newestTurn(root);
  const { checkpointId, messageId } = request;
  const isEdited = request.messages.length > 0;
  const target = findTarget(session, newest, { checkpointId, messageId, isEdited });
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
  redis.call('LTRIM', session.checkpoints, '0', int(target.checkpoints - 1));
  if (target.checkpoints === 0) redis.call('UNLINK', session.checkpoints);
  const checkpoint = checkpointAt(session, target.checkpoints - 1)?.id;
  if (checkpoint === undefined) dropFields(session, ['checkpoint']);
  else setFields(session, ['checkpoint', checkpoint]);
  const { tenant } = root;
  const runId = startAgain(session, request, target, edited, checkpoint);
  noteAct(session, args, request.act, 'begun', { tenant, runId });
  return `{"kind":"rewound","run":{${newestRunJson(session)}}}`;
}

/** True for a message that stays in the transcript or is queued. */
function stays(session: Session, id: string, rows: number): boolean {
  if (acceptedHash(session, id) === undefined) return false;
  const place = readMessagePlace(session, id);
  return place === undefined || place.row < rows;
}

/** Stores the replacing messages, informs viewers and starts the run. @returns its id */
function startAgain(
  session: Session,
  { nonce, now, mode, by, asker }: RewindRequest,
  target: Target,
  edited: readonly StoredMessage[],
  checkpoint: string | undefined,
): string {
  const { turn, step } = target;
  let { shown } = target;
  const root = readRoot(session, ['seq', 'agent', 'runN']);
  const { id, n } = nextRun(session, root.runN, nonce);
  const before = readAskers(session, turn.turn);
  const isAuthor = edited.length > 0;
  noteAskers(session, turn.turn, isAuthor ? joinAskers(asker, before) : joinAskers(before, asker));
  if (edited.length > 0) {
    accept(session, edited);
    shown = storeMessages(session, edited, int(shown), turn.turn, id).shown;
  } else {
    noteRunOf(session, turn.turn, id);
  }
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
  setFields(session, ['born', nonce, 'rewound', '1', 'replied', replied]);
  // How many control messages precede a turn is only known when the turn begins.
  dropFields(session, ['turnControls']);
  const message = isRetry ? `msg-${int(shown)}` : turn.messageId;
  const turnSeq = isRetry ? seq : turn.seq;
  noteTurn(session, { turn: turn.turn, row: turn.row, seq: turnSeq, messageId: message });
  const run = { id, n, mode, by, turn: turn.turn, message, turnSeq, turnRow: turn.row, seq, step };
  startRun(session, run, log.seq, now, ['uiCount', int(shown)]);
  return id;
}
