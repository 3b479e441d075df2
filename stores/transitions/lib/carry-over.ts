import { cjson, redis, toNumber } from './host.js';
import { int } from './json.js';
import { newestTurn, noteTurn, readTurn, type Turn } from './places.js';
import { dropFields, readField, readRoot, setFields } from './root.js';
import { readRewinds, wasRewound, type EndedRun } from './rewinds.js';
import { readHeads, type RowHead } from './rows.js';
import type { Session } from './session.js';

/**
 * Number of rows that one request examines; rows of earlier releases are decoded completely, which
 * is slower.
 */
const ROWS = 50;

/**
 * Release 0.2.0 does not note places. True if it started the newest turn, or rewound the session to
 * it, after this release had noted some. All places are then noted again when they are needed, and
 * per-turn figures of this release are void.
 */
export function wasElsewhere(session: Session, newest: Turn): boolean {
  if (newest.turn === 0 || isNoted(session, newest)) return false;
  setFields(session, ['placed', '0 0']);
  dropFields(session, ['childrenExpire', 'turnControls']);
  // Release 0.2.0 clears the expiry of the other keys only.
  redis.call('PERSIST', session.places);
  redis.call('PERSIST', session.rewinds);
  noteTurn(session, newest);
  return true;
}

/**
 * Notes the places of messages and turns of a session whose rows were not stored one by one, such
 * as one of an earlier release or a copy. Works page by page; the cursor is kept in the session.
 *
 * @returns true when all places are noted
 */
export function notePlaces(session: Session, newest: Turn): boolean {
  const placed = readField(session, 'placed') ?? '0 0';
  if (placed === 'all') return true;
  const [at = '0', before = '0'] = placed.split(' ');
  const from = toNumber(at);
  let turn = toNumber(before);
  if (from === 0) noteStarts(session, newest);
  const heads = readHeads(session, Math.max(0, from - 1), from + ROWS - 1);
  let previous: RowHead | undefined;
  let row = from;
  if (from > 0) previous = heads[0];
  for (let index = from > 0 ? 1 : 0; index < heads.length; index += 1) {
    const head = heads[index] as RowHead;
    const known = head.role === 'user' ? startAt(session, row) : undefined;
    if (known !== undefined || (speaks(head) && !(previous !== undefined && speaks(previous)))) {
      turn = known?.turn ?? turn + 1;
      const seq = known?.seq ?? readTurn(session, turn)?.seq ?? 0;
      noteTurn(session, { turn, row, seq, messageId: known?.messageId ?? '' });
    }
    if (head.role === 'user') {
      redis.call('HSET', session.places, `m:${head.id ?? ''}`, `${int(row)} ${int(turn)}`);
    } else if (head.role === 'assistant') {
      nameTurn(session, turn, head.messageId ?? '');
    }
    previous = head;
    row += 1;
  }
  const isDone = row >= redis.call('LLEN', session.rows);
  setFields(session, ['placed', isDone ? 'all' : `${int(row)} ${int(turn)}`]);
  return isDone;
}

/** Notes about late answers are not messages of a person. */
function speaks({ role, id, hidden }: RowHead): boolean {
  return role === 'user' && !(hidden === true && id?.startsWith('late-') === true);
}

function isNoted(session: Session, { turn, row, seq }: Turn): boolean {
  const noted = readTurn(session, turn);
  return noted?.row === row && noted.seq === seq;
}

/** False if places may be missing or may refer to rows that no longer exist. */
export function arePlacesNoted(session: Session): boolean {
  const root = readRoot(session, ['placed', 'turn', 'turnRow', 'turnSeq', 'messageId']);
  return root.placed === 'all' && isNoted(session, newestTurn(root));
}

/** Notes the newest turn of each run once, under its first row as `r:<row>`. */
function noteStarts(session: Session, newest: Turn): void {
  forgetPlaces(session);
  const rewinds = readRewinds(session);
  for (const json of redis.call('HVALS', session.runs)) {
    const run = cjson.decode(json) as EndedRun;
    if (run.startRow === undefined || wasRewound(run, rewinds)) continue;
    const { startRow: row, startSequence: seq, turn, messageId } = run;
    noteStart(session, { turn, row, seq, messageId });
  }
  noteStart(session, newest);
}

/** Removes places of rows that no longer exist. */
function forgetPlaces({ places }: Session): void {
  for (const name of redis.call('HKEYS', places)) {
    const isPlace = name.startsWith('r:') || name.startsWith('m:') || name.startsWith('a:');
    if (isPlace) redis.call('HDEL', places, name);
  }
}

function noteStart(session: Session, { turn, row, seq, messageId }: Turn): void {
  const start = `${int(turn)} ${int(seq)} ${messageId}`;
  redis.call('HSET', session.places, `r:${int(row)}`, start);
}

function startAt(session: Session, row: number): Turn | undefined {
  const start = redis.call('HGET', session.places, `r:${int(row)}`);
  if (start === false) return undefined;
  const [turn = '', seq = '', messageId = ''] = start.split(' ');
  return { turn: toNumber(turn), row, seq: toNumber(seq), messageId };
}

/** A turn that a steering message closed early is found by the id of its reply. */
function nameTurn(session: Session, turn: number, messageId: string): void {
  const found = readTurn(session, turn);
  if (found?.messageId === '') noteTurn(session, { ...found, messageId });
}
