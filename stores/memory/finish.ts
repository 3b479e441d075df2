import type { AssistantRow, Row } from '../../protocol/rows.js';
import type { RunError, TerminalStatus } from '../../protocol/run.js';
import type { InterruptRecord, RunInfo } from '../contract/runs.js';
import { closeCalls, takeInResults, type SettleCode } from './calls.js';
import { armExpiry } from './expiry.js';
import { fromJson, toJson } from './json.js';
import { releaseSteering } from './queue.js';
import { writeControl } from './log.js';
import { resultsOf } from './record.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import { pushReply } from './reply.js';
import type { MemoryRun, MemorySession, StoreContext } from './session.js';
import { isConversation, sessionsBelow } from './tree.js';

export interface Ending {
  status: TerminalStatus;
  error?: RunError | undefined;
  reason?: string | undefined;
  /** What becomes of calls that are open. */
  code: SettleCode;
}

const ABORTED: RunError = {
  code: 'framework_cancelled',
  message: 'The run was aborted.',
  retryable: false,
};

/**
 * The end of a run: run, session and stream become terminal together, expiry is armed. Sub-agents at
 * work end with it; the end of one is told by what becomes of its parent's call.
 */
export function finish(
  session: MemorySession,
  run: MemoryRun,
  who: Speaker,
  { status, error, reason, code }: Ending,
  context: StoreContext,
): void {
  for (const child of sessionsBelow(session).reverse()) {
    if (child.run === undefined) continue;
    const { agent = '' } = child.identity ?? {};
    const speaker = { ...who, agentId: child.id, agentType: agent, step: child.run.committedStep };
    closeCalls(child, speaker, code);
    takeInResults(child);
    const ended = status === 'completed' ? 'interrupted' : status;
    close(child, child.run, { status: ended, reason }, who.now);
  }
  closeCalls(session, who, code);
  takeInResults(session);
  const output = run.output === undefined ? undefined : { output: fromJson(run.output) };
  if (output !== undefined) {
    writeOwn(session, who, 'output', output);
    session.rows.push(toJson<Row>(toShownRow(run, output)));
  }
  if (!isConversation(session)) {
    close(session, run, { status, error, reason }, who.now);
    return;
  }
  const hasFailed = status === 'failed' || status === 'aborted';
  // A turn that was stopped before its first word is a message as well, also when others follow it.
  if (!run.hasReplied && status === 'interrupted') pushReply(session, run, toShownRow(run));
  const failure = hasFailed ? (error ?? ABORTED) : undefined;
  const checkpointId = session.checkpointId ?? null;
  if (status === 'interrupted') {
    writeOwn(session, who, 'run_interrupted', {
      runId: run.runId,
      checkpointId,
      ...(reason !== undefined && { reason }),
    });
  } else if (failure !== undefined) {
    const { message, code: errorCode, retryable } = failure;
    writeOwn(session, who, 'error', {
      error: message,
      code: errorCode,
      recoverable: false,
      errorDetail: { message, code: errorCode, retryable },
    });
  }
  writeControl(session.log, {
    type: 'stream_end',
    streamId: session.id,
    timestamp: who.now,
    status,
    ...(failure && { error: failure.message }),
    ...(output !== undefined && { finalOutput: output.output }),
  });
  session.stream = hasFailed ? 'failed' : 'ended';
  close(session, run, { status, error, reason }, who.now);
  // What waits for its turn keeps its session.
  if (session.queue.length === 0) armExpiry(session, context);
}

/** What a run came to, as its message shows it. */
function toShownRow({ messageId, runId, committedStep }: MemoryRun, given?: object): AssistantRow {
  const place = { messageId, runId, step: committedStep };
  return { role: 'assistant', display: true, ...place, parts: [], ...given };
}

/** The end of a run as its stop record says. */
export function finishStopped(
  session: MemorySession,
  run: MemoryRun,
  who: Speaker,
  context: StoreContext,
): void {
  const { mode = 'interrupt', reason } = run.stop === undefined ? {} : fromJson(run.stop);
  const status = mode === 'abort' ? 'aborted' : 'interrupted';
  finish(session, run, who, { status, reason, code: 'run_stopped' }, context);
}

/** How the run of this session ended; nothing of it is at work any more. */
export function close(
  session: MemorySession,
  run: MemoryRun,
  { status, error, reason }: Omit<Ending, 'code'>,
  now: number,
): void {
  session.updatedAt = now;
  if (error !== undefined) run.error = toJson(error);
  if (status === 'interrupted' || status === 'aborted') {
    const by = run.stop === undefined ? undefined : fromJson(run.stop).by;
    const record: InterruptRecord = {
      runId: run.runId,
      mode: status === 'aborted' ? 'abort' : 'interrupt',
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
      at: now,
      checkpointId: session.checkpointId ?? null,
    };
    run.interrupted = toJson(record);
  }
  session.root.wakes.delete(session.id);
  run.status = status;
  run.stop = undefined;
  run.resume = undefined;
  run.resumeTaken = false;
  session.busy.clear();
  session.writers.clear();
  session.failures.clear();
  releaseSteering(session);
  const ended: RunInfo = {
    runId: run.runId,
    turn: run.turn,
    status,
    stepCount: run.committedStep,
    startSequence: run.startSequence,
    startedAt: run.startedAt,
    endedAt: now,
    ...resultsOf(run),
    ...(run.error !== undefined && { error: fromJson(run.error) }),
    ...(status === 'interrupted' && reason !== undefined && { reason }),
    mode: run.mode,
    startRow: run.startRow,
    messageId: run.messageId,
    ...(run.by !== undefined && { by: run.by }),
  };
  session.endedRuns.push(toJson(ended));
}
