import type { Checkpoint } from './record.js';
import {
  askedFrom,
  countShown,
  endOf,
  headAt,
  headsOf,
  headsWhile,
  lastTurn,
  numberOf,
  turnOfRow,
  type PlacedTurn,
} from './transcript.js';
import type { Session } from './tree.js';

/** The part of a session that stays, and the point from which it continues. */
export interface Target {
  turn: PlacedTurn;
  rows: number;
  checkpoints: number;
  /** Log entries up to this sequence stay. */
  sequence: number;
  /** The new run continues after this step of the turn. */
  step: number;
  visible: number;
  hasReplied: boolean;
  /** State version at the turn's beginning, if one of its steps stays. */
  stateVersion?: number | undefined;
}

export interface Wanted {
  checkpointId: string | undefined;
  messageId: string | undefined;
  isEdited: boolean;
}

export function findTarget(
  session: Session,
  { checkpointId, messageId, isEdited }: Wanted,
): Target | 'message_not_found' | 'checkpoint_not_found' {
  if (checkpointId !== undefined) return toCheckpoint(session, checkpointId);
  const newest = session.existing.turn;
  const row =
    messageId === undefined
      ? newest.row
      : (rowInTurn(session, newest, messageId) ?? rowOfMessage(session, newest, messageId));
  if (row === undefined) return 'message_not_found';
  return toTurn(session, row, messageId, isEdited);
}

/** Returns the row of a user message at the turn's beginning, or the turn's first row for its reply's id. */
function rowInTurn(session: Session, turn: PlacedTurn, id: string): number | undefined {
  if (id === turn.messageId) return turn.row;
  const at = askedFrom(session, turn.row, session.rows.count).findIndex((head) => head.id === id);
  return at < 0 ? undefined : turn.row + at;
}

/** Returns the row of a user message, or for a reply the first row of its turn. */
function rowOfMessage(session: Session, newest: PlacedTurn, id: string): number | undefined {
  const row = session.messages.get(id)?.row;
  if (row !== undefined) return headAt(session, row)?.id === id ? row : undefined;
  if (!id.startsWith('msg-')) return undefined;
  const wanted = numberOf(id);
  const found = lastTurn(session, newest, (turn) => numberOf(turn.messageId) <= wanted);
  return found?.messageId === id ? found.row : undefined;
}

function toTurn(session: Session, row: number, messageId: string | undefined, isEdited: boolean) {
  const turn = turnOfRow(session, row);
  const asked = askedFrom(session, turn.row, endOf(session, turn));
  const visible = countShown(asked);
  const behind = countShown(asked.slice(Math.max(0, row - turn.row)));
  const before = visibleBefore(session, turn, visible);
  if (isEdited && (messageId === undefined || headAt(session, row)?.id !== messageId))
    return 'message_not_found';
  return {
    turn,
    rows: isEdited ? row : turn.row + asked.length,
    checkpoints: countCheckpoints(session, turn.row),
    sequence: turn.sequence,
    step: 0,
    visible: before + visible - (isEdited ? behind : 0),
    hasReplied: false,
  };
}

export function checkpointAt(session: Session, index: number): Checkpoint | undefined {
  return index < 0 ? undefined : session.checkpoints.get(index);
}

export function findCheckpoint(
  session: Session,
  id: string,
): { checkpoint?: Checkpoint; index?: number } {
  const index = Number(session.index.get(`c:${id}`) ?? -1);
  const found = index < session.existing.checkpoints ? checkpointAt(session, index) : undefined;
  return found?.id === id ? { checkpoint: found, index } : {};
}

/** Counts the checkpoints made while the transcript had at most this many rows. */
function countCheckpoints(session: Session, rows: number): number {
  let [low, high] = [0, session.existing.checkpoints];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((checkpointAt(session, middle)?.messageCount ?? 0) <= rows) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toCheckpoint(session: Session, id: string): Target | 'checkpoint_not_found' {
  const { checkpoint, index = -1 } = findCheckpoint(session, id);
  if (checkpoint === undefined) return 'checkpoint_not_found';
  const turn = turnOfRow(session, checkpoint.messageCount - 1);
  const { messageCount: stored, stepCount: step, streamSequence } = checkpoint;
  // The results of the step follow it, both in the transcript and in the log.
  const { count } = session.rows;
  const results = headsWhile(session, stored, count, (head) => {
    return head.role === 'tool' || head.display === true;
  });
  const rows = stored + results.length;
  const asked = askedFrom(session, turn.row, rows);
  const visible = countShown(asked);
  const hasReplied = turn.row + asked.length < rows;
  return {
    turn,
    rows,
    checkpoints: index + 1,
    sequence: Number(session.index.get(`e:${id}`) ?? streamSequence),
    step,
    visible: visibleBefore(session, turn, visible) + visible + (hasReplied ? 1 : 0),
    hasReplied,
    stateVersion: checkpointAt(session, countCheckpoints(session, turn.row))?.stateVersion,
  };
}

/** Counts the visible messages before a turn. The id of the turn's reply includes the messages of the turn. */
function visibleBefore(session: Session, { messageId, row }: PlacedTurn, visible: number): number {
  if (messageId.startsWith('msg-')) return numberOf(messageId) - visible;
  let shown = 0;
  let reply: string | undefined = '';
  for (const head of headsOf(session, 0, row - 1)) {
    if (head.role === 'user' && head.hidden !== true) shown += 1;
    if (head.role === 'assistant' && head.messageId !== reply) {
      reply = head.messageId;
      shown += 1;
    }
  }
  return shown;
}
