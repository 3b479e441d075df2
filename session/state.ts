import { byteLength } from './fields.js';
import { countBytes, countStored } from './messages.js';
import { type Session } from './tree.js';

/** Number of turns whose states are kept; a session cannot be rewound further. */
const TURNS_KEPT = 20;

/** Replaces the agent's own state. A version that a checkpoint refers to is kept. @param state as JSON */
export function putState(session: Session, state: string): number {
  const { existing: record } = session;
  const { version } = record.state;
  if (version > 0 && version !== (record.checkpoint?.stateVersion ?? 0))
    dropStates(session, [version]);
  const next = version + 1;
  session.content.set(`v:${String(next)}`, state);
  countStored(session, state);
  record.state.version = next;
  record.state.kept.push([next, byteLength(state)]);
  return next;
}

export function dropStates(session: Session, versions: readonly number[]): void {
  const { state } = session.existing;
  for (const [version, bytes] of state.kept) {
    if (!versions.includes(version)) continue;
    session.content.unset(`v:${String(version)}`);
    countBytes(session, -bytes);
  }
  state.kept = state.kept.filter(([version]) => !versions.includes(version));
}

/** Notes with which state a turn began, at its first commit; the states of old turns go. */
export function noteStateOfTurn(session: Session): void {
  const { turn, state } = session.existing;
  if (turn.stateVersion !== undefined) return;
  turn.stateVersion = state.version;
  state.turns.push([turn.n, state.version]);
  if (state.turns.length <= TURNS_KEPT) return;
  state.turns.shift();
  const oldest = state.turns[0]?.[1] ?? 0;
  const old = state.kept.filter(([version]) => version < oldest && version !== state.version);
  dropStates(
    session,
    old.map(([version]) => version),
  );
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

/** Stages what a call wants to change in the state; its earlier changes are replaced. @param changes as JSON */
export function stageChanges(session: Session, step: string, call: string, changes: string): void {
  const { state } = session.existing;
  state.stagings += 1;
  state.staged = state.staged.filter((staged) => staged.step !== step || staged.call !== call);
  state.staged.push({ step, call, n: state.stagings });
  session.content.set(`s:${step}/${call}`, changes);
}

export interface SaveState {
  expectedVersion: number;
  /** As JSON. */
  state: string;
  /** Tells a repeated request from another one. */
  nonce: string;
  /** Staged changes that are part of this state, each with its number when it was read. */
  taken: readonly { step: string; call: string; n: number }[];
  now: number;
}

/** Replaces the agent's own state if it still has the expected version, and removes the staged changes that went into it. */
export function saveState(
  session: Session,
  { expectedVersion, state: text, nonce, taken, now }: SaveState,
): { kind: 'saved'; version: number } | { kind: 'stale' | 'not_found' } {
  const { record } = session;
  if (record?.agent === undefined) return { kind: 'not_found' };
  const { state } = record;
  if (state.version === expectedVersion + 1 && state.by === nonce)
    return { kind: 'saved', version: state.version };
  if (state.version !== expectedVersion) return { kind: 'stale' };
  const isThere = taken.every(({ step, call, n }) =>
    state.staged.some((staged) => staged.step === step && staged.call === call && staged.n === n),
  );
  if (!isThere) return { kind: 'stale' };
  const gone = new Set(taken.map(({ n }) => n));
  state.staged = state.staged.filter(({ n }) => !gone.has(n));
  session.content.unset(...taken.map(({ step, call }) => `s:${step}/${call}`));
  const version = putState(session, text);
  record.updated = now;
  state.by = nonce;
  return { kind: 'saved', version };
}

/** Forgets the state changes that the calls of a step have staged. @returns these calls */
export function dropStaged(session: Session, step: string): string[] {
  const { record } = session;
  const gone = record?.state.staged.filter((staged) => staged.step === step) ?? [];
  if (record === undefined || gone.length === 0) return [];
  record.state.staged = record.state.staged.filter((staged) => staged.step !== step);
  session.content.unset(...gone.map(({ call }) => `s:${step}/${call}`));
  return gone.map(({ call }) => call);
}
