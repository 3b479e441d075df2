import type { RunRecord } from '../contract/runs.js';
import { keepForEver } from './expiry.js';
import type { MemoryRun, MemorySession } from './session.js';

type NewRun = Omit<
  MemoryRun,
  | 'runId'
  | 'status'
  | 'committedStep'
  | 'claimedStep'
  | 'resumeTaken'
  | 'outcome'
  | 'error'
  | 'stop'
  | 'resume'
  | 'interrupted'
  | 'subAgents'
> & { nonce: string };

/** Makes a run the session's newest, at work from here on; what belonged to the one before is forgotten. */
export function startRun(session: MemorySession, { nonce, ...fields }: NewRun): MemoryRun {
  const runId = formatNextRunId(session, nonce);
  keepForEver(session);
  session.runCount += 1;
  const run: MemoryRun = {
    ...fields,
    runId,
    status: 'starting',
    committedStep: fields.fromStep,
    claimedStep: fields.fromStep,
    resumeTaken: false,
    subAgents: 0,
  };
  session.run = run;
  session.stream = 'active';
  session.streamError = undefined;
  session.snapshot = undefined;
  session.pauseSequence = run.runSequence;
  session.updatedAt = run.startedAt;
  session.busy.clear();
  session.writers.clear();
  session.failures.clear();
  return run;
}

/** Id of the session's next run. */
export function formatNextRunId({ id, runCount }: MemorySession, nonce: string): string {
  return `${id}:${String(runCount + 1)}-${nonce}`;
}

/** True if the newest run is the one that was made with this nonce. */
export function isNewestRun({ id, run, runCount }: MemorySession, nonce: string): boolean {
  return run?.runId === `${id}:${String(runCount)}-${nonce}`;
}

/** What callers are told of the newest run. */
export function toRunRecord({ id, identity }: MemorySession, run: MemoryRun): RunRecord {
  const { runId, turn, messageId, startSequence, startedAt, fromStep, runSequence } = run;
  return {
    sessionId: id,
    runId,
    agent: identity?.agent ?? '',
    turn,
    messageId,
    startSequence,
    startedAt,
    ...(fromStep > 0 && { from: { step: fromStep, known: runSequence } }),
  };
}
