import { toPerson, type KnownPerson } from '../protocol/responder.js';
import type { RunMode } from '../protocol/run.js';
import { acceptedHash, addNotices, storeMessages } from './messages.js';
import type { Message } from './input.js';
import { newRecord, LAYOUT, type Run } from './record.js';
import { say, speakerOf, isControl } from './say.js';
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
  if (acceptedHash(session, messageId) === undefined) return undefined;
  const turn = session.messages.get(messageId)?.turn;
  return turn === undefined ? undefined : session.turns.get(turn)?.run;
}

/** Returns the people who ask in an accepted message's turn. */
export function askersOf(session: Session, messageId: string): readonly KnownPerson[] {
  const turn = session.messages.get(messageId)?.turn;
  return (turn === undefined ? undefined : session.turns.get(turn)?.askers) ?? [];
}

export function nextRunId(session: Session, nonce: string): { id: string; n: number } {
  const n = (session.record?.run.n ?? 0) + 1;
  return { id: `${session.id}:${String(n)}-${nonce}`, n };
}

/** Creates a turn for user messages, and its run. */
export function makeTurn(session: Session, made: NewTurn): void {
  const { nonce, now, messages, mode, askers } = made;
  const { log } = session.tree;
  const { existing: record } = session;
  const { id, n } = nextRunId(session, nonce);
  const turn = record.turn.n + 1;
  const sequence = log.sequence;
  if (turn > 1) addNotices(session);
  const { row, visible } = storeMessages(session, messages, record.visible, turn);
  record.visible = visible;
  trimLog(session, n);
  const messageId = `msg-${String(visible)}`;
  const speaker = speakerOf(session, now, 0);
  const { checkpoint, run } = record;
  record.turn = {
    n: turn,
    row,
    sequence,
    messageId,
    hasReplied: false,
    askers,
    controls: record.sizes.controls,
  };
  session.turns.set(turn, { row, sequence, messageId, askers, run: id });
  if (made.waited) {
    const messageIds = messages.map((message) => message.id);
    say(session, speaker, 'turn_started', { runId: id, messageId, messageIds, reason: 'queue' });
  }
  if (mode === 'with_message') {
    const from = { fromCheckpointId: checkpoint?.id ?? null, fromStepCount: run.committed };
    say(session, speaker, 'run_resumed', { runId: id, ...from, mode });
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
      sizes.controls -= turn.controls ?? countControls(session, turn.sequence);
      log.trim(turn.sequence + 1);
      log.bytes -= sizes.logBefore;
    } else if (n > 1 && entries === 0) {
      log.bytes = 0;
    }
  }
  sizes.logBefore = log.bytes;
}

/** Counts control messages before a turn that a rewind began, whose count was unknown then. */
function countControls(session: Session, upTo: number): number {
  const older = session.tree.log.after(0, Infinity, upTo);
  return older.filter(([, writer, message]) => isControl(writer, message)).length;
}

export interface NewRun {
  id: string;
  n: number;
  mode: RunMode;
  by: string;
  /** Sequence before its first entry. */
  sequence: number;
  /** The last committed step of the turn. */
  step: number;
}

/** Makes a run the newest and active one of its session, and drops the state of the run before. */
export function startRun(
  session: Session,
  { id, n, mode, by, sequence, step }: NewRun,
  now: number,
): void {
  const { existing: record } = session;
  persist(session);
  if (n <= 1) session.dropWriters();
  const run: Run = {
    ...newRecord(now).run,
    ...{ id, n, mode, by, status: 'starting', started: now, sequence, paused: sequence },
    ...{ fromStep: step, claimed: step, committed: step },
  };
  record.layout = LAYOUT;
  record.run = run;
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
    tree.write('persist', session.part);
  } else if (record !== undefined && record.run.n > 0) {
    tree.write('expireLog', undefined);
  }
}
