import { byteLength } from './fields.js';
import { countBytes, countStored } from './messages.js';
import type { States } from './record.js';
import { type Session } from './tree.js';

/** Number of turns whose states are kept; a session cannot be rewound further. */
const TURNS_KEPT = 20;

/** Replaces the agent's own state. A version that a checkpoint refers to is kept. @param state as JSON */
export function putState(session: Session, state: string): number {
  const { existing: record } = session;
  const { version } = record.state;
  if (version > 0 && version !== (record.checkpoint?.stateVersion ?? 0))
    dropStates(session, (old) => old === version);
  return addVersion(session, state);
}

export function addVersion(session: Session, text: string): number {
  const { state } = session.existing;
  state.version += 1;
  state.kept.push([state.version, byteLength(text)]);
  session.content.set(`v:${String(state.version)}`, text);
  countStored(session, text);
  return state.version;
}

export function dropStates(session: Session, isUnused: (version: number) => boolean): void {
  const { state } = session.existing;
  for (const [version, bytes] of state.kept.filter(([each]) => isUnused(each))) {
    session.content.unset(`v:${String(version)}`);
    countBytes(session, -bytes);
  }
  state.kept = state.kept.filter(([version]) => !isUnused(version));
}

/** Notes the state version a turn began with, at its first commit, and drops states of old turns. */
export function noteStateOfTurn(session: Session): void {
  const { turn, state } = session.existing;
  if (turn.stateVersion !== undefined) return;
  turn.stateVersion = state.version;
  state.turns.push([turn.n, state.version]);
  if (state.turns.length <= TURNS_KEPT) return;
  state.turns.shift();
  const oldest = state.turns[0]?.[1] ?? 0;
  dropStates(session, (version) => version < oldest && version !== state.version);
}

/** Stages the changes of a call, until its step is promoted. @returns false if there is no session */
export function stage(
  session: Session,
  { step, call, changes }: { step: string; call: string; changes: string },
): boolean {
  if (session.record?.agent === undefined) return false;
  stageChanges(session, step, call, changes);
  return true;
}

/** Stages a call's changes of the state and replaces its earlier ones. @param changes as JSON */
export function stageChanges(session: Session, step: string, call: string, changes: string): void {
  const { state } = session.existing;
  state.staged = state.staged.filter((staged) => staged.step !== step || staged.call !== call);
  state.staged.push({ step, call });
  session.content.set(`s:${step}/${call}`, changes);
}

export interface SaveState {
  expectedVersion: number;
  /** The state as JSON. */
  state: string;
  /** Identifies repeated requests. */
  nonce: string;
  now: number;
}

export function saveState(
  session: Session,
  { expectedVersion, state: text, nonce, now }: SaveState,
): { kind: 'saved'; version: number } | { kind: 'stale' | 'not_found' } {
  const { record } = session;
  if (record?.agent === undefined) return { kind: 'not_found' };
  const { state } = record;
  if (state.version === expectedVersion + 1 && state.by === nonce)
    return { kind: 'saved', version: state.version };
  if (state.version !== expectedVersion) return { kind: 'stale' };
  const version = putState(session, text);
  record.updated = now;
  state.by = nonce;
  return { kind: 'saved', version };
}

/** Drops the staged changes of one step, or of all steps. @returns their calls */
export function dropStaged(session: Session, step?: string): string[] {
  return unstage(session, (staged) => step === undefined || staged.step === step);
}

/** Drops the staged changes for which `isGone` returns true. @returns their calls */
export function unstage(
  session: Session,
  isGone: (staged: States['staged'][number]) => boolean,
): string[] {
  const { record } = session;
  const gone = record?.state.staged.filter(isGone) ?? [];
  if (record === undefined || gone.length === 0) return [];
  record.state.staged = record.state.staged.filter((staged) => !isGone(staged));
  session.content.unset(...gone.map(({ step: of, call }) => `s:${of}/${call}`));
  return gone.map(({ call }) => call);
}
