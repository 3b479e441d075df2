import { cjson, redis, toNumber } from './host.js';
import { int } from './json.js';
import { noteTurn, readTurn, type Turn } from './places.js';
import { readField } from './root.js';
import { readHeads, type RowHead } from './rows.js';
import type { Session } from './session.js';

/** Rows that one call looks at; those of earlier releases are decoded whole, which takes longer. */
const ROWS = 50;

interface EndedRun {
  startRow?: number;
  startSequence: number;
  turn: number;
  messageId: string;
  rewound?: boolean;
}

/**
 * Notes the places of messages and turns of a session whose rows were not stored one by one: of one
 * that an earlier release made, or a copy. A page at a time, the cursor stays in the session.
 *
 * @returns true when all have their places
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
      redis.call('HSETNX', session.places, `m:${head.id ?? ''}`, `${int(row)} ${int(turn)}`);
    } else if (head.role === 'assistant') {
      nameTurn(session, turn, head.messageId ?? '');
    }
    previous = head;
    row += 1;
  }
  const isDone = row >= redis.call('LLEN', session.rows);
  redis.call('HSET', session.root, 'placed', isDone ? 'all' : `${int(row)} ${int(turn)}`);
  return isDone;
}

/** Notices of late answers are no person's messages. */
function speaks({ role, id, hidden }: RowHead): boolean {
  return role === 'user' && !(hidden === true && id?.startsWith('late-') === true);
}

/** The newest turn of each run is on record: noted once by its row, as `r:<row>`. */
function noteStarts(session: Session, newest: Turn): void {
  for (const json of redis.call('HVALS', session.runs)) {
    const run = cjson.decode(json) as EndedRun;
    if (run.startRow === undefined || run.rewound === true) continue;
    const { startRow: row, startSequence: seq, turn, messageId } = run;
    noteStart(session, { turn, row, seq, messageId });
  }
  noteStart(session, newest);
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

/** Turns that were steered away from are found by their replies. */
function nameTurn(session: Session, turn: number, messageId: string): void {
  const found = readTurn(session, turn);
  if (found?.messageId === '') noteTurn(session, { ...found, messageId });
}
