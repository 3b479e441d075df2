import type { FinishReason, StreamMessage } from '../protocol/chunk.js';
import { runNumberOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { Compaction, Row } from '../protocol/rows.js';
import {
  type At,
  type RunError,
  type StepOutcome,
  type StopRequest,
  type TerminalStatus,
  isTerminal,
} from '../protocol/run.js';
import { openCalls } from './calls.js';
import { finish, noteEndOfStep, emitNextWaits } from './finish.js';
import {
  Json,
  type AttemptBudget,
  type NewCall,
  type Only,
  type RunUsage,
  type Stored,
  type Writer,
} from './input.js';
import { addNotices, keepResult, pushReply } from './messages.js';
import { atAfter, mustFinish } from './next.js';
import { restIfWaiting } from './pause.js';
import { steeringWaits, takeSteering } from './queue.js';
import { dropWake, fromUsage, sumOf, toUsage, type Run } from './record.js';
import { authorOf } from './chunks.js';
import { addResults, type SettlingCode } from './settling.js';
import { noteStateOfTurn } from './state.js';
import type { Session } from './tree.js';
import {
  countLost,
  isActive,
  isExhausted,
  lost,
  own,
  owns,
  writeDiscarded,
  withdraw,
} from './writers.js';

export interface Claim {
  writer: Writer;
  /** Highest sequence that the run has seen. A store behind it was restored from a backup. */
  known: number;
  now: number;
  /** Limit on lost attempts. Default: five within an hour. */
  budget?: AttemptBudget;
  /** Price of an output token in millionths of a dollar; the output of lost attempts is charged to the run. */
  perToken?: number;
}

/** `done`: the step was committed before, perhaps later ones too. `outcome` is the newest. */
export type Done = { kind: 'done'; outcome: StepOutcome } | { kind: 'superseded' };

export interface Claimed {
  kind: 'claimed';
  rowCount: number;
  sequence: number;
  failures: number;
  /** Time since the first failure, ms by the store's clock; 0 without failures. */
  failingForMs: number;
  /** Number of failures after which the run waited for its provider outside of an activity. */
  waits: number;
  /** The fallback model that an earlier attempt at the step reached; absent for the first model. */
  fallback?: Fallback;
  messageId: string;
  /** When it changes, rows that were read before are invalid. */
  born: string;
  /** Some earlier calls no longer have rows, so ids must come from `calls.takeId`. */
  hasDroppedCalls?: true;
  /** Usage of the run so far; absent if nothing was reported. */
  usage?: RunUsage;
  /** The model may only submit its result. */
  mustFinish?: true;
  /** Number of times the model submitted an invalid result. */
  invalidFinishes?: number;
}

/** A model of an agent's list that replaces the earlier ones. */
export interface Fallback {
  index: number;
  /** Number of failures in the step before this model was reached. */
  before: number;
}

/**
 * `exhausted`: the budget of lost attempts is used up, so the run must be ended. `rewound`: the store is older than the
 * run and lacks the run, or its newest steps.
 */
export type NotClaimed =
  | Done
  | { kind: 'stopped'; stop: StopRequest }
  | Only<'rewound' | 'fenced' | 'not_ready' | 'exhausted'>;

/** Estimated bytes per token: the provider never reported the usage of a lost attempt. */
const BYTES_PER_TOKEN = 4;

/** Maximum number of batches that can be withdrawn while their attempt still appends. */
const SHORT_BATCHES = 100;

/**
 * Makes an attempt the owner of its step's model writer. Withdraws what earlier attempts wrote, and moves results, late
 * notes and steering messages into the transcript.
 *
 * In this order: the step is committed (its outcome) · the store is older than what the run has seen · the run is
 * active and the newest · stop · fence · this is the next step, and neither its writer nor the transcript is lost · all
 * calls of the step before are settled · budget of lost attempts.
 *
 * @returns `fencing`: the attempt before has written much and may still append; see `fenceOff`
 */
export function claim(
  session: Session,
  input: Stored<Claim>,
): Claimed | NotClaimed | { kind: 'fencing' } {
  const { budget = LIMITS.attempts, perToken = 0 } = input;
  const { runId, name, token, agentType, step } = input.writer;
  const { log, conversation } = session.tree;
  const { record } = session;
  if (record?.run.id === runId && record.run.committed >= step) return doneOrSuperseded(session);
  if (log.stored < input.known) return lost(session, 'rewound');
  if (record?.run.id !== runId)
    return lost(session, (record?.run.n ?? 0) < runNumberOf(runId) ? 'rewound' : 'superseded');
  const { run } = record;
  if (isTerminal(run.status)) return lost(session, 'superseded');
  if (run.stop !== undefined) return { kind: 'stopped', stop: run.stop };
  const writer = session.writer(name);
  if (writer !== undefined && writer.token > token) return lost(session, 'fenced');
  const isLost = writer === undefined && run.claimed === step;
  if (run.committed !== step - 1 || isLost || hasLostRows(session)) return lost(session, 'rewound');
  // A sub-agent continues together with the others once the conversation is no longer paused.
  const isPaused = !session.isConversation && conversation.existing.stream === 'paused';
  if (isPaused || session.openCalls().some(({ state }) => state !== 'settled'))
    return { kind: 'not_ready' };
  const isNew = writer?.token !== token;
  const before = isNew ? writer : undefined;
  if (before !== undefined && isExhausted(session, before, budget))
    return lost(session, 'exhausted');
  // While the other attempt appends, a large withdrawal would always lose the race.
  const isLong = before !== undefined && session.batch(name).n > SHORT_BATCHES;
  if (isLong && session.fence(name) < token) return { kind: 'fencing' };
  if (isNew) {
    const author = authorOf(session, input.now, step);
    const { removed, spoken } = withdraw(session, name);
    if (before !== undefined) countLost(session, name, budget);
    addSpoken(session, spoken, perToken);
    noteEndOfStep(session);
    const hadCalls = run.calls > 0;
    if (hadCalls) addResults(session);
    addNotices(session);
    if (before !== undefined)
      writeDiscarded(session, { ...author, agentType }, 'attempt_lost', removed);
    else takeSteering(session, { ...author, agentType });
    own(session, name, token);
    // A scheduled run starts with its first claim, so the wait does not count as work.
    if (run.status === 'starting' && run.waitsUntil !== undefined)
      run.started = Math.max(run.started, input.now);
    run.hasModel = true;
    run.status = 'running';
    run.claimed = step;
    record.updated = input.now;
    conversation.existing.stream = 'active';
    conversation.existing.updated = input.now;
    dropWake(conversation.existing, session.part);
    // Only answers to calls set these.
    if (hadCalls) {
      delete run.resume;
      delete run.isTaken;
      run.releases = 0;
    }
    // This includes a wait that an ended sub-agent left behind.
    delete conversation.existing.run.waitsUntil;
  }
  const failing = session.writer(name);
  const since = failing?.failingSince;
  const { outcome } = run;
  const invalidFinishes = outcome?.kind === 'calls' ? outcome.invalidFinishes : undefined;
  return {
    kind: 'claimed',
    rowCount: session.rows.count,
    sequence: log.sequence,
    failures: failing?.failures ?? 0,
    failingForMs: since === undefined ? 0 : Math.max(0, session.tree.now - since),
    waits: failing?.waits ?? 0,
    ...(failing?.fallback !== undefined && { fallback: failing.fallback }),
    messageId: record.turn.messageId,
    born: record.born,
    ...(run.usage !== undefined && { usage: fromUsage(run.usage) }),
    ...(record.rewound && { hasDroppedCalls: true }),
    ...(mustFinish(outcome) && { mustFinish: true }),
    ...(invalidFinishes !== undefined && { invalidFinishes }),
  };
}

/** Returns true if Redis has lost the transcript, which holds at least the messages of the turn. */
function hasLostRows({ rows, existing: { turn } }: Session): boolean {
  return rows.count <= turn.row;
}

function addTo(run: Run, usage: RunUsage | undefined): void {
  if (usage !== undefined) run.usage = sumOf(run.usage, toUsage(usage));
}

/** Charges the run for what a lost attempt streamed: the provider bills it too. */
function addSpoken(session: Session, bytes: number, perToken: number): void {
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN);
  if (tokens === 0) return;
  const { run } = session.existing;
  run.usage = sumOf(run.usage, [0, tokens, 0, 0, 0, Math.ceil(tokens * perToken)]);
}

/**
 * Returns the newest outcome for a step that is already committed. `superseded`: the run was ended elsewhere, or it
 * continues after earlier steps, whose outcomes it does not know.
 */
function doneOrSuperseded(session: Session): Done {
  const { outcome, status } = session.existing.run;
  if (outcome === undefined || (isTerminal(status) && outcome.kind !== 'ended'))
    return lost(session, 'superseded');
  session.tree.emit({ kind: 'work_over' });
  session.tree.emit({ kind: 'charge_changed' });
  return { kind: 'done', outcome };
}

export interface Commit {
  writer: Writer;
  /** Highest sequence that the writer has seen. */
  known: number;
  row?: Row;
  calls: NewCall[];
  /** Chunks written with the row, in this order, before those that the store adds. */
  chunks: StreamMessage[];
  outcome: StepOutcome;
  checkpointId: string;
  /** Usage of the model call, added to the totals of the run. */
  usage?: RunUsage;
  model?: string;
  finishReason?: FinishReason;
  /** The result that the model submitted; written by the change that ends the run. */
  output?: unknown;
  final?: { status: TerminalStatus; error?: RunError };
  answersStop: boolean;
  now: number;
}

export type CommitReply =
  /** `next`: the run has ended and queued messages wait. */
  | { kind: 'committed'; sequence: number; at: At; paused: boolean; next?: true }
  /** Stored, but the run does not end, since its next step reads new messages. */
  | { kind: 'steered'; sequence: number; at: At }
  | Done
  | { kind: 'stopped'; stop: StopRequest }
  | Only<'rewound' | 'fenced'>;

/**
 * Stores a step's reply, opens its calls and writes the checkpoint. Pauses the run if only people can continue it. Ends
 * it if `final` is set, unless a steering message waits for the next step.
 *
 * In this order: the step is committed (its outcome) · the store is older than what the writer has seen · the run is
 * the newest and active · a stop, unless this commit answers it · fence: the token owns the writer, and this is the
 * next step · the transcript is there.
 */
export function commit(session: Session, input: Stored<Commit>): CommitReply {
  const { runId, name, agentType, step } = input.writer;
  const { log } = session.tree;
  const { record } = session;
  if (record?.run.id === runId && record.run.committed >= step) return doneOrSuperseded(session);
  if (log.stored < input.known) return lost(session, 'rewound');
  if (record?.run.id !== runId || isTerminal(record.run.status)) return lost(session, 'superseded');
  const { run } = record;
  if (run.stop !== undefined && !input.answersStop) return { kind: 'stopped', stop: run.stop };
  if (!owns(session, input.writer) || run.committed !== step - 1) return lost(session, 'fenced');
  if (hasLostRows(session)) return lost(session, 'rewound');
  const reason = run.stop?.reason;

  if (input.row !== undefined) pushReply(session, input.row);
  for (const chunk of input.chunks) log.add(chunk, name);
  openCalls(session, input.calls);
  noteCheckpoint(session, input);
  const { final } = input;
  const isSettled = input.calls.every(({ row }) => row !== undefined);
  const steers = final?.status === 'completed' && steeringWaits(session) && isSettled;
  run.committed = step;
  run.outcome = steers ? { kind: 'calls', step, calls: [] } : input.outcome;
  record.updated = input.now;
  if (input.finishReason !== undefined) run.finishReason = input.finishReason;
  noteStateOfTurn(session);
  addTo(run, input.usage);
  if (input.model !== undefined) run.model = input.model;
  if (!steers && input.output !== undefined) keepOutput(session, input.output);
  let paused = false;
  let hasNext = false;
  if (final !== undefined && !steers) {
    const code: SettlingCode = final.status === 'failed' ? 'run_failed' : 'run_stopped';
    const author = { ...authorOf(session, input.now, step), agentType };
    hasNext = finish(session, author, { ...final, reason, code });
  } else {
    run.hasModel = false;
    session.dropWriter(name);
    session.tree.write('drop', 'pages', '');
    paused = !steers && run.busyCalls === 0 && restIfWaiting(session, input.now);
  }
  const { tree } = session;
  tree.emit({ kind: 'attempt_ended', outcome: input.answersStop ? 'cut' : 'committed' });
  tree.emit({ kind: 'charge_changed', isSize: true });
  // A sub-agent may rest while others continue.
  if (paused || final !== undefined || !session.isConversation) tree.emit({ kind: 'work_over' });
  const { sequence } = log;
  const at = atAfter(session, runId, { lists: true, calls: true });
  if (steers) return { kind: 'steered', sequence, at };
  return { kind: 'committed', sequence, at, paused, ...emitNextWaits(session, hasNext) };
}

function noteCheckpoint(session: Session, { writer, checkpointId, now }: Stored<Commit>): void {
  const { existing: record } = session;
  const stateVersion = record.state.version;
  const checkpoint = {
    id: checkpointId,
    runId: writer.runId,
    stepCount: writer.step,
    messageCount: session.rows.count,
    streamSequence: session.tree.log.sequence,
    timestamp: now,
    stateVersion,
  };
  session.checkpoints.set(record.checkpoints, checkpoint);
  session.index.set(`c:${checkpointId}`, String(record.checkpoints));
  record.checkpoints += 1;
  record.checkpoint = { id: checkpointId, stateVersion };
}

/** Keeps the result of the run; the first one counts. @param output as JSON */
export function keepOutput(session: Session, output: string): void {
  const { run } = session.existing;
  const ref = `run ${run.id}`;
  run.outputRef = ref;
  keepResult(session, ref, output);
}

export interface Discard {
  writer: Writer;
  /** Number of this failure within the step, from 1; a repeated request counts it once. */
  failure: number;
  reason: string;
  /** Index of the next model, if it is another one. */
  fallback?: number;
  /** Time for which the run waits for its provider, ms. */
  waitMs?: number;
  /** Usage of the failed call as the provider reports it. */
  usage?: RunUsage;
  now: number;
}

export type DiscardReply = { kind: 'discarded'; failures: number } | Only<'superseded' | 'fenced'>;

export function discard(
  session: Session,
  { writer: by, reason, failure, usage, fallback, waitMs, now }: Stored<Discard>,
): DiscardReply {
  const { runId, name, token, agentType, step } = by;
  const writer = session.writer(name);
  const failures = writer?.failures ?? 0;
  if (failures >= failure) return { kind: 'discarded', failures };
  if (!isActive(session, runId)) return lost(session, 'superseded');
  if (writer?.token !== token) return lost(session, 'fenced');
  const { removed } = withdraw(session, name);
  writeDiscarded(session, { ...authorOf(session, now, step), agentType }, reason, removed);
  const { run } = session.existing;
  addTo(run, usage);
  writer.first = session.tree.log.sequence;
  delete writer.left;
  writer.failures = failures + 1;
  writer.failingSince ??= session.tree.now;
  if (fallback !== undefined) writer.fallback = { index: fallback, before: writer.failures };
  if (waitMs !== undefined) {
    writer.waits = (writer.waits ?? 0) + 1;
    session.tree.conversation.existing.run.waitsUntil = session.tree.now + waitMs;
  }
  session.tree.emit({ kind: 'attempt_ended', outcome: 'discarded', code: reason });
  return { kind: 'discarded', failures: writer.failures };
}

export interface Compact {
  writer: Writer;
  compaction?: Compaction;
  /** Usage of the summary, or of one that failed, added to the totals of the run. */
  usage?: RunUsage | undefined;
}

export type CompactReply =
  { kind: 'kept'; compaction: Json<Compaction> } | Only<'none' | 'superseded' | 'fenced'>;

/**
 * Keeps the summary that replaces the oldest rows for a step's model. The first summary of a step counts for all its
 * attempts. Without `compaction` and `usage`, only reads it.
 */
export function compact(
  session: Session,
  { writer, compaction, usage }: Stored<Compact>,
): CompactReply {
  if (!isActive(session, writer.runId)) return { kind: 'superseded' };
  const kept = session.writers.get('compaction');
  const of = String(writer.step);
  if (kept !== undefined && session.writers.get('compactedStep') === of)
    return { kind: 'kept', compaction: new Json(kept) };
  if (compaction === undefined && usage === undefined) return { kind: 'none' };
  if (!owns(session, writer)) return { kind: 'fenced' };
  const { run } = session.existing;
  addTo(run, usage);
  if (compaction === undefined) return { kind: 'none' };
  session.writers.set('compactedStep', of);
  session.writers.set('compaction', compaction);
  return { kind: 'kept', compaction: new Json(compaction) };
}
