import type { Resumption } from '../../protocol/run.js';
import { toJson } from './json.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemoryRun, MemorySession } from './session.js';

/** Pauses run, session and stream when only people can progress; true if it did. */
export function pauseIfWaiting(
  session: MemorySession,
  run: MemoryRun,
  who: Speaker,
  storeNow: number,
): boolean {
  if (session.busy.size > 0) return false;
  const waiting = [...session.calls].filter(([, { state }]) => state === 'waiting');
  const first = waiting[0];
  if (first === undefined) return false;
  const asksApproval = waiting.some(([, { kind }]) => kind === 'approval');
  writeOwn(session, who, 'suspension_marker', {
    kind: 'suspended_client_tool',
    payload: { toolCallIds: waiting.map(([toolCallId]) => toolCallId) },
  });
  for (const [, call] of waiting) {
    // A clock that runs is not set back by another pause.
    if (call.deadlineMs !== undefined) call.deadline ??= storeNow + call.deadlineMs;
  }
  const deadline = firstDeadline(session);
  writeOwn(session, who, 'run_paused', {
    runId: run.runId,
    reason: asksApproval ? 'approval' : 'client_tool',
    pendingToolName: first[1].toolName,
    pendingToolCallId: first[0],
    ...(deadline !== undefined && { deadline }),
  });
  session.pauseSequence = session.log.sequence;
  for (const [, call] of waiting) call.askedAt = session.pauseSequence;
  run.status = asksApproval ? 'waiting_approval' : 'waiting_tool';
  session.stream = 'paused';
  return true;
}

/** Earliest deadline of the calls that wait. */
export function firstDeadline({ calls }: MemorySession): number | undefined {
  const deadlines = [...calls.values()].flatMap(({ state, deadline }) =>
    state === 'waiting' && deadline !== undefined ? [deadline] : [],
  );
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

/** The last answer of a batch releases the calls that were approved; a paused run goes on. */
export function resumeIfAnswered(
  session: MemorySession,
  run: MemoryRun,
  who: Speaker,
): Resumption | undefined {
  const calls = [...session.calls];
  if (calls.some(([, { state }]) => state === 'waiting')) return undefined;
  const approved = calls.flatMap(([id, { state }]) => (state === 'approved' ? [id] : []));
  for (const toolCallId of approved) session.busy.add(toolCallId);
  const resumption = { step: run.committedStep, approved };
  // While siblings still run nothing had paused, and the workflow waits for them anyway.
  if (session.stream === 'paused') {
    writeOwn(session, who, 'run_resumed', {
      runId: run.runId,
      fromCheckpointId: session.checkpointId ?? null,
      fromStepCount: who.step,
      mode: 'continue',
    });
  }
  run.status = 'running';
  run.resume = toJson(resumption);
  session.stream = 'active';
  return resumption;
}
