import { isTerminal } from '../protocol/run.js';
import type { BeginInput, BeginResult } from '../stores/contract/runs.js';
import { noteBeside, type Due } from '../stores/contract/due.js';
import type { Store } from '../stores/contract/store.js';

/** When the sweeper sees to the workflow of a run that begins. */
export interface SweepAfterBegin {
  sweepInMs: number;
  /** True: a session that is busy keeps the time of its next check, however often it is tried. */
  mayWait?: boolean;
}

/** Begins a run that the sweeper starts if its beginner does not. */
export async function beginNoted(
  { sessions, runs, due }: Pick<Store, 'sessions' | 'runs'> & { due: Due },
  input: BeginInput,
  { sweepInMs, mayWait = false }: SweepAfterBegin,
): Promise<BeginResult> {
  const { sessionId } = input;
  const keepsTime = mayWait && (await isBusy(sessions, sessionId));
  // The index may live on another node than the session: it is written before the run exists.
  const noted = keepsTime ? undefined : noteBeside(due, sessionId, sweepInMs);
  const result = await runs.begin(input, noted);
  // The time that the session kept was the former run's, and may be on no list any more.
  if (keepsTime && (await mayBeUnnoted(result, sessions, sessionId))) {
    await due.note(sessionId, sweepInMs);
  }
  return result;
}

/** True also for the run of an earlier try, whose process may have died before it noted it. */
async function mayBeUnnoted(
  { kind }: BeginResult,
  sessions: Store['sessions'],
  sessionId: string,
): Promise<boolean> {
  if (kind !== 'accepted') return kind === 'begun';
  return (await sessions.read(sessionId))?.status === 'starting';
}

async function isBusy(sessions: Store['sessions'], sessionId: string): Promise<boolean> {
  const record = await sessions.read(sessionId);
  return record !== undefined && (!isTerminal(record.status) || record.queued > 0);
}
