import { removeEntries } from './log.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemorySession } from './session.js';

/** Makes an attempt the owner of its writer name. */
export function ownWriter(
  session: MemorySession,
  name: string,
  token: number,
  nonce?: string,
): void {
  const first = session.log.sequence;
  session.writers.set(name, { token, nonce, batch: 0, batchSequence: 0, first });
}

/** Removes a writer's entries since its claim; returns how many there were. */
export function withdraw(session: MemorySession, name: string): number {
  const owned = session.writers.get(name);
  if (owned === undefined) return 0;
  return removeEntries(session.log, owned.first, ({ writer }) => writer === name).length;
}

/** Withdraws an attempt and tells viewers. */
export function discardAttempt(
  session: MemorySession,
  who: Speaker,
  name: string,
  reason: string,
): void {
  const removed = withdraw(session, name);
  writeOwn(session, who, 'step_discarded', {
    runId: session.run?.runId ?? '',
    stepId: `s${String(who.step)}`,
    reason,
  });
  if (removed > 0) tellOfWithdrawal(session, who);
}

/** Tells viewers that part of what they saw is gone; of one call only, if it is named. */
export function tellOfWithdrawal(session: MemorySession, who: Speaker, toolCallId?: string): void {
  writeOwn(session, who, 'stream_resync', {
    checkpointId: session.checkpointId ?? '',
    stepCount: session.run?.committedStep ?? 0,
    messageCount: session.rows.length,
    fromSequence: session.log.sequence,
    reason: 'crash_recovery',
    ...(toolCallId !== undefined && { toolCallId }),
  });
}
