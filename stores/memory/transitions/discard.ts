import { isTerminal } from '../../../protocol/run.js';
import type { DiscardInput, DiscardResult } from '../../contract/steps.js';
import { addUsage } from '../../record/run-usage.js';
import { discardAttempt } from '../attempts.js';
import { speakerOf } from '../own-chunks.js';
import type { MemorySession } from '../session.js';

/** Withdraws what this attempt wrote, and counts a failure of the provider. */
export function discard(session: MemorySession, input: DiscardInput): DiscardResult {
  const { writer, failure, reason, usage, now } = input;
  const { run } = session;
  const failures = session.failures.get(writer.step) ?? 0;
  if (failures >= failure) return { kind: 'discarded', failures };
  if (run?.runId !== writer.runId || isTerminal(run.status)) return { kind: 'superseded' };
  const owned = session.writers.get(writer.name);
  if (owned?.token !== writer.token) return { kind: 'fenced' };
  discardAttempt(session, speakerOf(writer, now), writer.name, reason);
  owned.first = session.log.sequence;
  run.usage = addUsage(run.usage, usage);
  session.failures.set(writer.step, failures + 1);
  return { kind: 'discarded', failures: failures + 1 };
}
