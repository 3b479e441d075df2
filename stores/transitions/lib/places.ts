import { redis, toNumber } from './host.js';
import { int } from './json.js';
import { num, setFields, type Root } from './root.js';
import type { Session } from './session.js';

/** Places of messages, turns and checkpoints, so that transcript and log need not be searched. */

export interface Turn {
  turn: number;
  /** First row. */
  row: number;
  /** Sequence before the first entry. */
  seq: number;
  /** Message id of the reply. */
  messageId: string;
}

/** The turn of a session's newest run. */
export function newestTurn(root: Root<'turn' | 'turnRow' | 'turnSeq' | 'messageId'>): Turn {
  const { turn, turnRow, turnSeq, messageId = '' } = root;
  return { turn: num(turn), row: num(turnRow), seq: num(turnSeq), messageId };
}

export function noteTurn(session: Session, turn: Turn): void {
  redis.call('HSET', session.places, `t:${int(turn.turn)}`, placeOfTurn(turn));
}

export function placeOfTurn({ row, seq, messageId }: Turn): string {
  return `${int(row)} ${int(seq)} ${messageId}`;
}

export function readTurn(session: Session, turn: number): Turn | undefined {
  const place = redis.call('HGET', session.places, `t:${int(turn)}`);
  if (place === false) return undefined;
  const [row = '', seq = ''] = place.split(' ');
  const messageId = place.slice(row.length + seq.length + 2);
  return { turn, row: toNumber(row), seq: toNumber(seq), messageId };
}

/** Row and turn of a user message; for one dropped by a rewind, its former place. */
export function readMessagePlace(
  session: Session,
  id: string,
): { row: number; turn: number } | undefined {
  const place = redis.call('HGET', session.places, `m:${id}`);
  if (place === false) return undefined;
  const [row = '', turn = ''] = place.split(' ');
  return { row: toNumber(row), turn: toNumber(turn) };
}

/** Notes the newest run that replies to the messages of a turn. */
export function noteRunOf(session: Session, turn: number, runId: string): void {
  redis.call('HSET', session.places, `a:${int(turn)}`, runId);
}

/** The newest run that replies to the messages of a turn; undefined for a turn that was copied. */
export function readRunOf(session: Session, turn: number): string | undefined {
  const runId = redis.call('HGET', session.places, `a:${int(turn)}`);
  return runId === false ? undefined : runId;
}

/** Between the JSON texts of people who ask. */
const NEXT = '\n';

/** Those who ask, each once, in this order: their JSON texts as one. */
export function joinAskers(...lists: readonly (string | undefined)[]): string {
  const all: string[] = [];
  for (const list of lists) {
    if (list === undefined || list === '') continue;
    for (const asker of list.split(NEXT)) if (!all.includes(asker)) all.push(asker);
  }
  return all.join(NEXT);
}

/** JSON of the author of a turn's messages; '' if not known. */
export function firstAsker(askers: string | undefined): string {
  const [first = ''] = (askers ?? '').split(NEXT, 1);
  return first;
}

/** Notes who asks by a turn, which is the newest one. */
export function noteAskers(session: Session, turn: number, askers: string): void {
  redis.call('HSET', session.places, `w:${int(turn)}`, askers);
  setFields(session, ['askers', askers]);
}

export function readAskers(session: Session, turn: number): string {
  const askers = redis.call('HGET', session.places, `w:${int(turn)}`);
  return askers === false ? '' : askers;
}

/**
 * Notes where the entries of the last committed step end. The results of its calls follow the
 * commit, so this is known only when something else begins.
 */
export function noteEndOfStep(session: Session, checkpoint: string | undefined, seq: number): void {
  if (checkpoint !== undefined) redis.call('HSETNX', session.places, `e:${checkpoint}`, int(seq));
}

export function readEndOfStep(session: Session, checkpoint: string): number | undefined {
  const seq = redis.call('HGET', session.places, `e:${checkpoint}`);
  return seq === false ? undefined : toNumber(seq);
}
