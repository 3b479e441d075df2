import type { KnownPerson } from '../protocol/responder.js';
import { claimFiles } from './files.js';
import { closeRun, armExpiry } from './finish.js';
import { accept, countStored } from './messages.js';
import { newRecord } from './record.js';
import { putState } from './state.js';
import { noteAct } from './stop.js';
import { noteTurn, startRun, type TurnPlace } from './turns.js';
import type { Session } from './tree.js';

export interface Branch {
  agent: string;
  owner: string;
  tenant: string;
  nonce: string;
  now: number;
  by: string;
  /** The transcript; texts are JSON. */
  rows: readonly string[];
  messages: readonly { id: string; hash: string; row: number; turn: number }[];
  turns: readonly (Pick<TurnPlace, 'row' | 'messageId' | 'askers'> & { n: number })[];
  /** Calls that have a result, with the output if it is stored apart from the row. */
  results: readonly { id: string; output?: string }[];
  turn: {
    n: number;
    row: number;
    messageId: string;
    step: number;
    hasReplied: boolean;
    askers: readonly KnownPerson[];
  };
  /** The turn is to be continued after its last step. */
  isOpen: boolean;
  visible: number;
  /** Some of the copied messages are shown to models only. */
  hasHidden: boolean;
  state?: string;
  act?: string;
}

/**
 * Creates a session from rows of another session. It is then idle, with a run number 0 that is completed, or interrupted
 * if the turn is to be continued.
 */
export function branch(session: Session, input: Branch): { kind: 'branched' | 'exists' } {
  const { agent, owner, tenant, nonce, now, by, rows, turn } = input;
  const { record } = session;
  if (record !== undefined) {
    const isSame = record.born === nonce && record.run.mode === 'branch';
    return { kind: isSame ? 'branched' : 'exists' };
  }
  session.record = { ...newRecord(now), agent, owner, tenant, born: nonce, visible: input.visible };
  if (input.hasHidden) session.existing.hasHidden = true;
  session.existing.sizes.isComplete = true;
  claimFiles(session);
  if (rows.length > 0) session.rows.push(...rows);
  countStored(session, ...rows);
  accept(session, input.messages);
  for (const { id, hash, row, turn: n } of input.messages) {
    session.index.set(`m:${id}`, JSON.stringify({ hash, row, turn: n }));
  }
  for (const { n, ...place } of input.turns) noteTurn(session, n, { ...place, sequence: 0 });
  const { n, row, messageId, hasReplied, askers } = turn;
  noteTurn(session, n, { row, sequence: 0, messageId, askers });
  for (const { id, output } of input.results) {
    session.index.set(`s:${id}`, '{}');
    if (output === undefined) continue;
    session.results.set(id, output);
    countStored(session, output);
  }
  if (input.state !== undefined) putState(session, input.state);
  session.existing.turn = { n, row, messageId, sequence: 0, hasReplied, askers };
  const id = `${session.id}:0-${nonce}`;
  startRun(session, { id, n: 0, mode: 'branch', by, sequence: 0, step: turn.step }, now);
  session.existing.stream = 'ended';
  const status = input.isOpen ? 'interrupted' : 'completed';
  closeRun(session, now, { status, code: 'run_stopped' });
  armExpiry(session);
  noteAct(session, input.act, { outcome: 'branched' });
  return { kind: 'branched' };
}
