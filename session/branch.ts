import { toPerson, type KnownPerson } from '../protocol/actor.js';
import { formatRunId } from '../protocol/ids.js';
import type { Row } from '../protocol/rows.js';
import { claimFiles } from './files.js';
import { closeRun, armExpiry } from './finish.js';
import type { Act, CustomState, Stored, UserMessage } from './input.js';
import { accept, headOf, keepResult, pushRows, type RowHead } from './messages.js';
import { newRecord } from './record.js';
import { putState } from './state.js';
import { noteAct } from './acts.js';
import { joinAskers, startRun } from './turns.js';
import type { Session } from './tree.js';

export interface Branch {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Distinguishes this session from another one with the same id. */
  nonce: string;
  by?: string;
  /** The people who ask, for each turn, as in the record. Default: the owner. */
  askers?: readonly (readonly KnownPerson[])[];
  /** The transcript; every call has a result. */
  rows: readonly Row[];
  /** The user messages, as they were accepted. */
  messages: readonly Pick<UserMessage, 'id' | 'hash'>[];
  /** The newest turn: number, first row, the reply's id and last step. */
  turn: { turn: number; row: number; messageId: string; step: number; hasReplied: boolean };
  /** True if that turn can be resumed after its last step. Default: it is complete. */
  isOpen?: boolean | undefined;
  visibleMessages: number;
  state?: CustomState;
  now: number;
  act?: Act;
}

export type BranchReply = { kind: 'branched' } | { kind: 'exists' };

/** Creates an idle session from rows of another one. Its run 0 is completed, or interrupted if its turn is open. */
export function branch(
  session: Session,
  input: Stored<Omit<Branch, 'messages'>> & Pick<Branch, 'messages'>,
): BranchReply {
  const { agent, owner, tenant = '', nonce, now, by = '', rows, turn } = input;
  const { record } = session;
  if (record !== undefined) {
    const isSame = record.born === nonce && record.run.mode === 'branch';
    return { kind: isSame ? 'branched' : 'exists' };
  }
  const visible = input.visibleMessages;
  session.record = { ...newRecord(now), agent, owner, tenant, born: nonce, visible };
  session.existing.sizes.isComplete = true;
  claimFiles(session);
  const texts = rows.map(({ row }) => row);
  if (texts.length > 0) pushRows(session, ...texts);
  const askersOf = (n: number): readonly KnownPerson[] =>
    joinAskers(input.askers?.[n - 1] ?? [toPerson(owner, { tenantId: tenant })]);
  const heads = texts.map(headOf);
  noteMessages(session, heads, input.messages, askersOf);
  for (const [at, { toolCallId: id }] of heads.entries()) {
    if (id === undefined) continue;
    const { result } = rows[at] ?? {};
    session.past.set(id, {});
    if (result !== undefined) keepResult(session, id, result);
  }
  const { turn: n, step, ...place } = turn;
  const newest = { ...place, sequence: 0, askers: askersOf(n) };
  const { hasReplied: _hasReplied, ...noted } = newest;
  session.turns.set(n, noted);
  if (input.state !== undefined) putState(session, input.state);
  session.existing.turn = { n, ...newest };
  const id = formatRunId(session.id, 0, nonce);
  startRun(session, { id, n: 0, mode: 'branch', by, sequence: 0, step }, now);
  session.existing.stream = 'ended';
  const status = input.isOpen === true ? 'interrupted' : 'completed';
  closeRun(session, now, { status, code: 'run_stopped' });
  armExpiry(session);
  noteAct(session, input.act, { outcome: 'branched' });
  return { kind: 'branched' };
}

function noteMessages(
  session: Session,
  heads: readonly RowHead[],
  messages: Branch['messages'],
  askersOf: (turn: number) => readonly KnownPerson[],
): void {
  accept(session, messages);
  const hashes = new Map(messages.map(({ id, hash }) => [id, hash]));
  let turn = 0;
  heads.forEach(({ role, id = '', hidden }, row) => {
    if (role !== 'user') return;
    if (hidden === true) session.existing.hasHidden = true;
    if (beginsTurn(heads, row)) {
      turn += 1;
      const reply = heads.slice(row).find((head) => head.role !== 'user');
      const messageId = reply?.messageId ?? '';
      session.turns.set(turn, { row, messageId, askers: askersOf(turn), sequence: 0 });
    }
    const hash = hashes.get(id);
    if (hash !== undefined) session.messages.set(id, { hash, row, turn });
  });
}

type Begins = Pick<RowHead, 'role' | 'hidden'> & { id?: string };

/** Returns true if a turn begins at this row: a person's message that follows no other. Pure. */
export function beginsTurn(rows: readonly Begins[], at: number): boolean {
  return isOfPerson(rows[at]) && !isOfPerson(rows[at - 1]);
}

/** Returns false for the notices of late answers, which no person wrote. */
function isOfPerson(row: Begins | undefined): boolean {
  return row?.role === 'user' && !(row.hidden === true && row.id?.startsWith('late-') === true);
}
