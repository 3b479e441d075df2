import { byteLength, redis } from './host.js';
import { checkpointAt } from './checkpoints.js';
import { int } from './json.js';
import type { Target } from './rewind-target.js';
import { dropFields, num, readField, setFields } from './root.js';
import { readHeads } from './rows.js';
import type { Session } from './session.js';
import { countStored } from './size.js';
import { dropStates, forgetTurnsAfter } from './state.js';

/** Number of newest rows in which staged calls are looked up. */
const NEWEST_ROWS = 200;

/**
 * The version of the state at the first dropped step; the current version if no step is dropped.
 */
function wantedVersion(session: Session, target: Target, current: number): number {
  return checkpointAt(session, target.checkpoints)?.stateVersion ?? current;
}

/**
 * False if that state is no longer stored: states of old turns are deleted, so the session cannot
 * be rewound to them.
 */
export function isStateKept(session: Session, target: Target): boolean {
  const current = num(readField(session, 'stateV'));
  const wanted = wantedVersion(session, target, current);
  if (wanted === 0 || wanted === current) return true;
  return redis.call('HEXISTS', session.states, int(wanted)) === 1;
}

/**
 * Restores the state that the first dropped step began with, as a new version, and deletes the
 * states that only dropped steps used.
 */
export function restoreState(session: Session, target: Target): void {
  const before = num(readField(session, 'stateV'));
  const wanted = wantedVersion(session, target, before);
  let current = before;
  if (wanted !== before) {
    const kept = wanted === 0 ? '{}' : redis.call('HGET', session.states, int(wanted));
    current = before + 1;
    const state = kept === false ? '{}' : kept;
    redis.call('HSET', session.states, int(current), state);
    countStored(session, byteLength(state));
    setFields(session, ['stateV', int(current)]);
  }
  const last = checkpointAt(session, target.checkpoints - 1)?.stateVersion ?? 0;
  const dropped: string[] = [];
  for (const version of redis.call('HKEYS', session.states)) {
    const n = num(version);
    if (n > last && n !== current) dropped.push(version);
  }
  dropStates(session, dropped);
  setFields(session, ['checkpointV', int(last)]);
  noteStateOfTurn(session, target);
  dropStaged(session, target.rows);
}

/** Notes with which state the turn began, if one of its steps stays. */
function noteStateOfTurn(session: Session, { turn, checkpoints }: Target): void {
  dropFields(session, ['turnV']);
  let first: number | undefined;
  for (let at = checkpoints - 1; at >= 0; at -= 1) {
    const checkpoint = checkpointAt(session, at);
    if (checkpoint === undefined || checkpoint.messageCount <= turn.row) break;
    first = checkpoint.stateVersion;
  }
  forgetTurnsAfter(session, first === undefined ? turn.turn - 1 : turn.turn);
  if (first === undefined) return;
  setFields(session, ['turnV', `${int(turn.turn)} ${int(first)}`]);
}

/** Staged changes stay if the rows of their calls stay. */
function dropStaged(session: Session, rows: number): void {
  const fields = redis.call('HKEYS', session.staged);
  if (fields.length === 0) return;
  const kept: Record<string, boolean> = {};
  if (rows > 0) {
    for (const { toolCallId } of readHeads(session, Math.max(0, rows - NEWEST_ROWS), rows - 1)) {
      if (toolCallId !== undefined) kept[`/${toolCallId}`] = true;
    }
  }
  for (const field of fields) {
    // Step ids contain no slash. Keys with a slash never match inherited properties of an object.
    const id = field.slice(field.indexOf('/'));
    if (field !== 'n' && kept[id] !== true) redis.call('HDEL', session.staged, field);
  }
}
