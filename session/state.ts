import { countBytes, countStored } from './messages.js';
import { byteLength, type Session } from './tree.js';

/** Number of turns whose states are kept; a session cannot be rewound further. */
const TURNS_KEPT = 20;

/** Replaces the agent's own state. A version that a checkpoint refers to is kept. @param state as JSON */
export function putState(session: Session, state: string): number {
  const { existing: record } = session;
  const { version } = record.state;
  if (version > 0 && version !== (record.checkpoint?.stateVersion ?? 0)) dropStates(session, [version]);
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

/** Stages what a call wants to change in the state; its earlier changes are replaced. @param changes as JSON */
export function stageChanges(session: Session, step: string, call: string, changes: string): void {
  const { state } = session.existing;
  state.stagings += 1;
  state.staged = state.staged.filter((staged) => staged.step !== step || staged.call !== call);
  state.staged.push({ step, call, n: state.stagings });
  session.content.set(`s:${step}/${call}`, changes);
}
