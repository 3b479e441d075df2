import { redis, toNumber } from './host.js';
import { checkpointAt, countCheckpoints, indexOfCheckpoint } from './checkpoints.js';
import { endOfStep } from './end-of-step.js';
import { readTurn, type Turn } from './places.js';
import { readHeads } from './rows.js';
import type { Session } from './session.js';
import { headAt, rowOfMessage, turnAtRow } from './turns.js';

/** How much of a session stays, and where it continues. */
export interface Target {
  turn: Turn;
  /** Number of rows that stay. */
  rows: number;
  /** Number of checkpoints that stay. */
  checkpoints: number;
  /** Log entries up to this sequence stay. */
  sequence: number;
  /** The new run continues after this step of the turn. */
  step: number;
  /** Number of visible messages that stay. */
  shown: number;
  /** True if part of the turn's reply stays. */
  hasReplied: boolean;
}

export interface Wanted {
  checkpointId: string | undefined;
  messageId: string | undefined;
  /** True if other messages replace that message. */
  isEdited: boolean;
}

/** Finds where a request wants to go back to. */
export function findTarget(
  session: Session,
  newest: Turn,
  wanted: Wanted,
): Target | 'message_not_found' | 'checkpoint_not_found' {
  if (wanted.checkpointId !== undefined) return toCheckpoint(session, newest, wanted.checkpointId);
  let row: number | undefined = newest.row;
  if (wanted.messageId !== undefined) {
    row =
      rowInTurn(session, newest, wanted.messageId) ??
      rowOfMessage(session, newest, wanted.messageId);
  }
  if (row === undefined) return 'message_not_found';
  return toTurn(session, newest, row, wanted);
}

function toTurn(
  session: Session,
  newest: Turn,
  row: number,
  { messageId, isEdited }: Wanted,
): Target | 'message_not_found' {
  const turn = turnAtRow(session, newest, row);
  const ends = endOfTurn(session, newest, turn);
  let at = turn.row;
  // The user messages of a turn precede its reply.
  let visible = 0;
  let behind = 0;
  while (at < ends) {
    const head = headAt(session, at);
    if (head?.role !== 'user') break;
    if (head.hidden !== true) {
      visible += 1;
      if (at >= row) behind += 1;
    }
    at += 1;
  }
  const before = shownBefore(session, turn, visible);
  const isUsers = messageId !== undefined && headAt(session, row)?.id === messageId;
  if (isEdited && !isUsers) return 'message_not_found';
  return {
    turn,
    rows: isEdited ? row : at,
    checkpoints: countCheckpoints(session, turn.row),
    sequence: turn.seq,
    step: 0,
    shown: before + visible - (isEdited ? behind : 0),
    hasReplied: false,
  };
}

function toCheckpoint(session: Session, newest: Turn, id: string): Target | 'checkpoint_not_found' {
  const index = indexOfCheckpoint(session, id);
  const checkpoint = checkpointAt(session, index);
  if (checkpoint === undefined) return 'checkpoint_not_found';
  const last = checkpoint.messageCount - 1;
  const turn = turnAtRow(session, newest, last);
  let rows = checkpoint.messageCount;
  // The results of the step follow it, both in the transcript and in the log.
  let head = headAt(session, rows);
  while (head !== undefined && (head.role === 'tool' || head.display === true)) {
    rows += 1;
    head = headAt(session, rows);
  }
  let visible = 0;
  let hasReplied = false;
  for (const each of readHeads(session, turn.row, rows - 1)) {
    if (each.role === 'user' && each.hidden !== true && !hasReplied) visible += 1;
    if (each.role === 'assistant') hasReplied = true;
  }
  return {
    turn,
    rows,
    checkpoints: index + 1,
    sequence: endOfStep(session, checkpoint),
    step: checkpoint.stepCount,
    shown: shownBefore(session, turn, visible) + visible + (hasReplied ? 1 : 0),
    hasReplied,
  };
}

/**
 * Number of visible messages before a turn. The id of its reply counts them together with the
 * messages of the turn.
 */
function shownBefore(session: Session, { messageId, row }: Turn, visible: number): number {
  if (messageId.startsWith('msg-')) return numberOf(messageId) - visible;
  let shown = 0;
  let reply = '';
  for (const head of readHeads(session, 0, row - 1)) {
    if (head.role === 'user' && head.hidden !== true) shown += 1;
    if (head.role === 'assistant' && head.messageId !== reply) {
      reply = head.messageId ?? '';
      shown += 1;
    }
  }
  return shown;
}

function numberOf(messageId: string): number {
  return toNumber(messageId.slice('msg-'.length));
}

/**
 * Row of a user message at the beginning of the turn, or the turn's first row for the id of its
 * reply.
 */
function rowInTurn(session: Session, turn: Turn, id: string): number | undefined {
  if (id === turn.messageId) return turn.row;
  let row = turn.row;
  let head = headAt(session, row);
  while (head?.role === 'user') {
    if (head.id === id) return row;
    row += 1;
    head = headAt(session, row);
  }
  return undefined;
}

function endOfTurn(session: Session, newest: Turn, { turn }: Turn): number {
  if (turn < newest.turn) {
    const next = readTurn(session, turn + 1);
    if (next !== undefined) return next.row;
  }
  return redis.call('LLEN', session.rows);
}
