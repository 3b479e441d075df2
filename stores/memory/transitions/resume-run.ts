import { isTerminal } from '../../../protocol/run.js';
import type { ResumeRunInput, ResumeRunResult } from '../../contract/runs.js';
import { fromJson } from '../json.js';
import { removeEntries } from '../log.js';
import { writeOwn } from '../own-chunks.js';
import type { MemoryRun, MemorySession } from '../session.js';
import { formatNextRunId, isNewestRun, startRun, toRunRecord } from '../start-run.js';

/** A new run for the turn of one that was interrupted, or failed in a way that may pass. */
export function resumeRun(session: MemorySession, input: ResumeRunInput): ResumeRunResult {
  const { identity, run, log } = session;
  const { nonce, mode, by, now } = input;
  if (identity === undefined || run === undefined) return { kind: 'not_found' };
  if (isNewestRun(session, nonce)) {
    return { kind: 'resumed', run: toRunRecord(session, run) };
  }
  if (!isTerminal(run.status)) return { kind: 'active', runId: run.runId };
  if (input.runId !== undefined && input.runId !== run.runId) {
    return { kind: 'stale_run', runId: run.runId };
  }
  const mayPass =
    run.status === 'failed' && run.error !== undefined && fromJson(run.error).retryable;
  if (run.status !== 'interrupted' && !mayPass) return { kind: 'final', status: run.status };

  const step = lastStepOf(session, run);
  // What nothing came of is said anew, under the same step.
  if (run.claimedStep > step) {
    const name = `m${String(run.claimedStep)}`;
    removeEntries(log, run.runSequence, ({ writer }) => writer === name);
  }
  const runSequence = log.sequence;
  const who = { agentId: session.id, agentType: identity.agent, step, now };
  writeOwn(session, who, 'run_resumed', {
    runId: formatNextRunId(session, nonce),
    fromCheckpointId: session.checkpointId ?? null,
    fromStepCount: step,
    mode,
  });
  const { turn, messageId, startSequence, startRow, hasReplied } = run;
  const place = { turn, messageId, startSequence, startRow, hasReplied, runSequence };
  const next = startRun(session, { ...place, nonce, mode, by, fromStep: step, startedAt: now });
  return { kind: 'resumed', run: toRunRecord(session, next) };
}

/** A reply that was folded from the log, for want of its writer, stands in the transcript only. */
function lastStepOf({ rows }: MemorySession, { startRow, committedStep }: MemoryRun): number {
  const last = rows
    .slice(startRow)
    .map(fromJson)
    .findLast(({ role }) => role === 'assistant');
  return last?.role === 'assistant' ? Math.max(committedStep, last.step) : committedStep;
}
