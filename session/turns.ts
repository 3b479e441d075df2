import { toPerson, type KnownPerson } from '../protocol/actor.js';
import { formatReplyId, formatRunId } from '../protocol/ids.js';
import type { RunMode } from '../protocol/run.js';
import { acceptedHash, addNotices, storeMessages } from './messages.js';
import type { Message } from './input.js';
import { newRecord, LAYOUT, type Run, type TurnPlace } from './record.js';
import { writeChunk, authorOf, countControls, writeResumed, type ChunkAuthor } from './chunks.js';
import type { Session } from './tree.js';

export interface NewTurn {
  nonce: string;
  now: number;
  messages: readonly Message[];
  /** The messages were queued. */
  waited: boolean;
  mode: RunMode;
  by: string;
  askers: readonly KnownPerson[];
}

/** Joins the people who ask, each once, in order. Only the first one, the author, keeps roles. */
export function joinAskers(...lists: (readonly KnownPerson[])[]): readonly KnownPerson[] {
  const all = lists
    .flat()
    .map(({ roles, ...person }, at) =>
      at === 0 && roles !== undefined ? { ...person, roles } : person,
    );
  return [...new Map(all.map((person) => [JSON.stringify(person), person])).values()];
}

/** Returns the person who asks, with roles only for an author; empty if no person asks. */
export function toAsker(
  { asker, by = '' }: { asker?: KnownPerson | undefined; by?: string | undefined },
  isAuthor = false,
): readonly KnownPerson[] {
  if (asker === undefined && by === '') return [];
  const { roles, ...person } = asker ?? toPerson(by);
  return [isAuthor && roles !== undefined ? { ...person, roles } : person];
}

/**
 * Returns the newest run of an accepted message's turn; undefined while the message is queued, and for a copied one.
 */
export function runOf(session: Session, messageId: string): string | undefined {
  return acceptedHash(session, messageId) && placeOf(session, messageId)?.run;
}

export function askersOf(session: Session, messageId: string): readonly KnownPerson[] {
  return placeOf(session, messageId)?.askers ?? [];
}

function placeOf(session: Session, messageId: string): TurnPlace | undefined {
  const turn = session.messages.get(messageId)?.turn;
  return turn === undefined ? undefined : session.turns.get(turn);
}

export function nextRunId(session: Session, nonce: string): { id: string; n: number } {
  const n = (session.record?.run.n ?? 0) + 1;
  return { id: formatRunId(session.id, n, nonce), n };
}

/** Opens a turn for user messages, whose reply begins after them. Followers learn of messages that waited. */
export function openTurn(
  session: Session,
  author: ChunkAuthor,
  { messages, askers }: Pick<NewTurn, 'messages' | 'askers'>,
  { runId, reason }: { runId: string; reason?: 'queue' | 'steer' },
): void {
  const { existing: record, tree } = session;
  const { sequence } = tree.log;
  const n = record.turn.n + 1;
  const { row, visible } = storeMessages(session, messages, record.visible, n);
  const messageId = formatReplyId(visible);
  const place = { row, sequence, messageId, askers };
  record.visible = visible;
  record.turn = { n, ...place, hasReplied: false, controls: record.sizes.controls };
  session.turns.set(n, { ...place, run: runId });
  if (reason === undefined) return;
  const messageIds = messages.map(({ id }) => id);
  writeChunk(session, author, 'turn_started', { runId, messageId, messageIds, reason });
}

export function makeTurn(session: Session, made: NewTurn): void {
  const { nonce, now, mode } = made;
  const { sequence } = session.tree.log;
  const { id, n } = nextRunId(session, nonce);
  const author = authorOf(session, now, 0);
  const { run, turn } = session.existing;
  if (turn.n > 0) addNotices(session);
  trimLog(session, n);
  openTurn(session, author, made, { runId: id, ...(made.waited && { reason: 'queue' }) });
  if (mode === 'with_message') {
    writeResumed(session, author, { runId: id, step: run.committed, mode });
  }
  startRun(session, { id, n, mode, by: made.by, sequence, step: 0 }, now);
}

/** Trims whole old turns off a log that is too long. The turn before stays, since a reader may be at its end. */
function trimLog(session: Session, n: number): void {
  const { entries: cap } = session.tree.keep;
  const { existing: record } = session;
  const { sizes, turn } = record;
  const { log } = session.tree;
  if (n > 1 || sizes.controls > 0) {
    const entries = log.count;
    if (entries === 0) sizes.controls = 0;
    if (n > 1 && cap > 0 && entries > cap) {
      // A rewind that began the turn did not count the control messages before it.
      sizes.controls -= turn.controls ?? countControls(log.after(0, Infinity, turn.sequence));
      log.trim(turn.sequence + 1);
      log.bytes -= sizes.logBefore;
    } else if (n > 1 && entries === 0) {
      log.bytes = 0;
    }
  }
  sizes.logBefore = log.bytes;
}

/** Makes a run the newest and active one of its session. `step`: the last committed one of its turn. */
export function startRun(
  session: Session,
  { step, ...made }: Pick<Run, 'id' | 'n' | 'mode' | 'by' | 'sequence'> & { step: number },
  now: number,
): void {
  const { existing: record } = session;
  persist(session);
  if (made.n <= 1) session.dropWriters();
  record.layout = LAYOUT;
  record.run = {
    ...newRecord(now).run,
    ...made,
    status: 'starting',
    started: now,
    paused: made.sequence,
    fromStep: step,
    claimed: step,
    committed: step,
  };
  record.stream = 'active';
  record.updated = now;
  delete record.streamError;
  delete record.snapshot;
}

/**
 * Removes the expiry of an active or waiting session. Where records never expire, this removes the expiry of its log.
 */
export function persist(session: Session): void {
  const { record, tree } = session;
  if (record?.expires !== undefined) {
    delete record.expires;
    tree.write('expire', 'session', session.part);
  } else if (record === undefined || record.run.n === 0) return;
  tree.write('expire', 'log', '');
}
