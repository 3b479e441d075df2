import { formatModelWriter } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import {
  isTerminal,
  type RunError,
  type StopRequest,
  type TerminalStatus,
} from '../protocol/run.js';
import type { Row } from '../protocol/rows.js';
import type { Stored } from './input.js';
import { addResults, closeCalls, partOf, type SettlingCode } from './settling.js';
import { pushReply, pushRows } from './messages.js';
import { noteDeadline, sessionsBelow } from './waiting.js';
import { dropWake, isResting, sumOf, type SessionRecord } from './record.js';
import { writeControl, writeChunk, authorOf, withRaw, type ChunkAuthor } from './chunks.js';
import type { Session } from './tree.js';

export interface Ending {
  status: TerminalStatus;
  error?: RunError;
  reason?: string | undefined;
  /** Code with which open calls are settled. */
  code: SettlingCode;
}

/** Error of an aborted run, the same for viewers and for pages that are loaded later. */
export const ABORTED: RunError = {
  code: 'framework_cancelled',
  message: 'The run was aborted.',
  retryable: false,
};

/**
 * Ends a run: run, session and stream become terminal together, and expiry is armed. Active sub-agents end with it. A
 * parent learns of a sub-agent's end from the result of its call.
 *
 * @returns true if messages wait for their turn
 */
export function finish(session: Session, author: ChunkAuthor, input: Ending): boolean {
  const { existing: record } = session;
  const isBroken = input.status === 'failed' || input.status === 'aborted';
  const { status, error } = input;
  const { agent = '', run: ended } = record;
  session.tree.emit({ kind: 'charge_changed' });
  session.tree.emit({
    kind: 'run_ended',
    agent,
    status,
    ...(status === 'failed' && { code: error?.code }),
  });
  // A resting run left its part earlier.
  if (!isResting(ended.status)) session.tree.emit({ kind: 'part_left', part: partOf(session) });
  const ending = isBroken && input.error === undefined ? { ...input, error: ABORTED } : input;
  if (record.run.calls > 0) {
    endSubAgents(session, author, ending);
    closeCalls(session, author, ending.code);
    addResults(session);
  }
  const { run, turn } = record;
  const place = JSON.stringify({
    role: 'assistant',
    messageId: turn.messageId,
    runId: run.id,
    step: run.committed,
    display: true,
    parts: [],
  });
  const result = outputOf(session);
  if (result !== undefined) {
    writeChunk(session, author, 'output', {}, result);
    pushRows(session, withRaw(place, result));
  }
  if (!session.isConversation) {
    closeRun(session, author.timestamp, ending);
    noteDeadline(session.tree.conversation);
    return false;
  }
  // A turn that ends before the model's first word gets an empty reply, so pages show one and the next turn does not
  // take its place.
  if (ending.status !== 'completed' && !turn.hasReplied) pushReply(session, place);
  noteEndOfStep(session);
  const failure = writeEnd(session, author, ending);
  const end = JSON.stringify({
    type: 'stream_end',
    streamId: author.agentId,
    timestamp: author.timestamp,
    status: ending.status,
    error: failure,
  });
  const final = result && { finalOutput: result['output'], finalOutputRef: result['outputRef'] };
  writeControl(session, withRaw(end, final ?? {}));
  record.stream = isBroken ? 'failed' : 'ended';
  closeRun(session, author.timestamp, ending);
  if (record.queue.length === 0) {
    armExpiry(session);
    return false;
  }
  // Steering messages that came too late are queued.
  for (const entry of record.queue) if (entry.mode === 'steer') entry.mode = 'queue';
  return true;
}

export function emitNextWaits({ tree }: Session, waits: boolean): { next?: true } {
  if (!waits) return {};
  tree.emit({ kind: 'next_waits' });
  return { next: true };
}

/** Returns the run's result: its text, or a reference if it is large. */
function outputOf(session: Session): Record<string, string | undefined> | undefined {
  const { outputRef } = session.existing.run;
  if (outputRef === undefined) return undefined;
  const text = session.tree.conversation.results.get(outputRef) ?? 'null';
  return text.length > LIMITS.inlineResultBytes
    ? { outputRef: JSON.stringify(outputRef) }
    : { output: text };
}

function endSubAgents(session: Session, author: ChunkAuthor, ending: Ending): void {
  const status = ending.status === 'completed' ? 'interrupted' : ending.status;
  for (const { session: child } of sessionsBelow(session).slice(1).reverse()) {
    closeCalls(child, authorOf(child, author.timestamp), ending.code);
    addResults(child);
    closeRun(child, author.timestamp, { status, reason: ending.reason, code: ending.code });
  }
}

/** Tells viewers why the stream ends. @returns the text of a failure */
function writeEnd(session: Session, author: ChunkAuthor, { status, error, reason }: Ending) {
  const { run, checkpoint } = session.existing;
  if (status === 'completed') return undefined;
  if (status === 'interrupted') {
    writeChunk(session, author, 'run_interrupted', {
      runId: run.id,
      checkpointId: checkpoint?.id ?? null,
      reason,
    });
    return undefined;
  }
  const { code, message, retryable } = error ?? ABORTED;
  writeChunk(session, author, 'error', {
    error: message,
    code,
    recoverable: false,
    errorDetail: { message, code, retryable },
  });
  return message;
}

export function closeRun(session: Session, now: number, { status, error, reason }: Ending): void {
  const { existing: record } = session;
  const { run, checkpoint } = record;
  // A run that ends while it waits for its start time has done no work.
  if (run.status === 'starting' && run.waitsUntil !== undefined) run.started = now;
  run.status = status;
  record.updated = now;
  if (session.isConversation && run.mode !== 'branch') {
    record.spent = sumOf(record.spent, run.usage);
    record.runs += 1;
  }
  if (error !== undefined) run.error = error;
  if (status === 'interrupted' || status === 'aborted') {
    run.interrupted = {
      runId: run.id,
      mode: status === 'aborted' ? 'abort' : 'interrupt',
      reason,
      by: run.stop?.by,
      at: now,
      checkpointId: checkpoint?.id ?? null,
    };
  }
  // A run that continues the turn repeats the unfinished step.
  if (session.isConversation && run.claimed > run.committed) {
    const first = session.writer(formatModelWriter(session.id, run.claimed))?.first;
    if (first !== undefined) run.openSequence = first;
  }
  if (!session.isConversation) dropWake(session.tree.conversation.existing, session.part);
  delete run.stop;
  delete run.resume;
  delete run.isTaken;
  delete run.deadline;
  delete run.waitsUntil;
  run.releases = 0;
  run.busyCalls = 0;
  run.hasModel = false;
  session.dropWriters();
  session.tree.write('drop', 'pages', '');
  const ended = { endedAt: now, reason: status === 'interrupted' ? reason : undefined, error };
  session.runs.set(run.id, summaryOf(record, ended));
}

export function summaryOf(
  { run, turn }: Pick<SessionRecord, 'run' | 'turn'>,
  ended: { endedAt?: number; reason?: string | undefined; error?: RunError | undefined } = {},
): string {
  return JSON.stringify({
    runId: run.id,
    turn: turn.n,
    status: run.status,
    stepCount: run.committed,
    startSequence: turn.sequence,
    startedAt: run.started,
    startRow: turn.row,
    messageId: turn.messageId,
    mode: run.mode,
    usage: run.usage,
    finishReason: run.finishReason,
    by: run.by === '' ? undefined : run.by,
    outputRef: run.outputRef,
    ...ended,
  });
}

/** Notes where the last committed step ends. Its results follow the commit, so only what begins next shows the end. */
export function noteEndOfStep(session: Session): void {
  const { checkpoint } = session.existing;
  if (checkpoint === undefined || checkpoint.isOver === true) return;
  checkpoint.isOver = true;
  session.index.set(`e:${checkpoint.id}`, String(session.tree.log.sequence));
}

/** Arms the expiry of an ended session. A stream without a session expires as a whole. */
export function armExpiry(session: Session): void {
  const { tree, existing: record } = session;
  const { streamMs, sessionMs } = tree.keep;
  const rest = record.agent === undefined ? streamMs : sessionMs;
  // The log never outlives the record, which holds its sequence.
  tree.write('expire', 'log', '', rest > 0 ? Math.min(rest, streamMs) : streamMs);
  if (rest === 0) return;
  record.expires = tree.now + rest;
  tree.write('expire', 'session', '', rest);
}

export function endingOfStop({ mode, reason }: StopRequest): Ending {
  return { status: mode === 'abort' ? 'aborted' : 'interrupted', reason, code: 'run_stopped' };
}

export interface End {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that was never committed. */
  row?: Row;
  /** Highest sequence that the run has seen; new entries are numbered above it. */
  floor?: number;
  now: number;
}

export type EndReply =
  /** `next`: queued messages wait. */
  { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' };

/**
 * Makes run, session and stream terminal. A writer that is still active is fenced off. A stop turns the status into
 * `interrupted` or `aborted`, unless the run has failed.
 */
export function end(
  session: Session,
  { runId, agentType, step, row, now, floor = 0, ...input }: Stored<End>,
): EndReply {
  const { record } = session;
  if (record?.run.id !== runId) return { kind: 'superseded' };
  const { run } = record;
  const ended = (status: TerminalStatus): EndReply => ({
    kind: 'ended',
    status,
    ...emitNextWaits(session, session.isConversation && record.queue.length > 0),
  });
  if (isTerminal(run.status)) {
    // The process that ended the run may have died before it told its listeners.
    session.tree.emit({ kind: 'charge_changed' });
    return ended(run.status);
  }
  const { status, error } = input;
  let ending: Ending = { status, code: 'run_stopped' };
  if (status === 'failed') {
    // A store that came back older may lack that calls began.
    ending = {
      status,
      error,
      code: error?.code === 'state_lost' ? 'tool_outcome_unknown' : 'run_failed',
    };
  } else if (run.stop !== undefined) ending = endingOfStop(run.stop);
  const { log } = session.tree;
  log.sequence = Math.max(log.sequence, floor);
  if (row !== undefined) pushReply(session, row);
  finish(session, { ...authorOf(session, now, step), agentType }, ending);
  return ended(ending.status);
}
