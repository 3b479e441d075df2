/**
 * Runs as every side of the wire sees them. Types and plain constants only, since workflow code
 * imports this file.
 */

import type { Usage } from './chunk.js';

/** Status of a run; the last four are terminal. */
export const RUN_STATUSES = [
  'starting',
  'running',
  'waiting_approval',
  'waiting_tool',
  'waiting_children',
  'completed',
  'failed',
  'interrupted',
  'aborted',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export type TerminalStatus = Extract<RunStatus, 'completed' | 'failed' | 'interrupted' | 'aborted'>;

/**
 * Cause of a run: new messages (`new`), or a turn to continue or repeat. `branch` is the completed
 * run with which a copied session begins.
 */
export type RunMode =
  | 'new'
  | 'continue'
  | 'with_message'
  | 'with_confirmation'
  | 'from_checkpoint'
  | 'retry'
  | 'branch';

/** Status of a session's stream, as the stream protocol names it. */
export const STREAM_STATUSES = ['active', 'paused', 'ended', 'failed'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return (
    status === 'completed' ||
    status === 'failed' ||
    status === 'interrupted' ||
    status === 'aborted'
  );
}

/** Modes of a stop: an `interrupt` can be resumed, an `abort` is final. */
export type StopMode = 'interrupt' | 'abort';

export interface StopRequest {
  mode: StopMode;
  reason?: string;
  by?: string;
}

/** Reason for a failed run: a code of a closed set, with text that is safe to show to a client. */
export interface RunError {
  code: string;
  message: string;
  retryable: boolean;
}

/** A run and its agent, as every activity gets them. */
export interface RunRef {
  sessionId: string;
  runId: string;
  agent: string;
}

/** Argument of the workflow: ids only; the conversation stays in Redis. */
export interface RunInput extends RunRef {
  turn: number;
  maxSteps: number;
  /** False if the server's search attributes could not be registered; the run then has none. */
  searchAttributes: boolean;
  /** For operators: the name of the model, and a page that shows the conversation. */
  model?: string;
  sessionUrl?: string;
  /** True for agents with an output schema; at the step cap the model is asked for its result. */
  hasOutput?: boolean;
  /** The shape of the run; absent: one activity for each step and call. */
  activities?: RunShape;
  /** True if workers hold leases, so that heartbeats are only a backstop. */
  hasLeases?: boolean;
  /** Set on a sub-agent's run: the call that it answers. */
  parent?: ParentRef;
  /** Events to notify receivers of; absent without receivers. */
  notify?: RunNotices;
  /** W3C `traceparent` of the request that began the run, and a page with the run's trace. */
  traceparent?: string;
  traceUrl?: string;
  /** True with a payload codec: failures keep their texts in the details. */
  sealsFailures?: boolean;
  /** Start time, ms since the epoch; absent if the run starts at once. */
  startAt?: number;
  /** Progress at which this continues: of an earlier run of the turn, or before continue-as-new. */
  from?: RunProgress;
}

/**
 * Division of a run into activities. `leg`: one activity carries it from one rest to the next,
 * calls of tools included.
 */
export type RunShape = 'leg';

/** Events for which a run's workflow starts notices. */
export interface RunNotices {
  /** Kinds of calls about which receivers are notified. */
  calls: readonly Extract<CallKind, 'approval' | 'client'>[];
  ends: readonly TerminalStatus[];
}

export interface ParentRef {
  sessionId: string;
  runId: string;
  toolCallId: string;
  /** 1 for a sub-agent of a conversation's own agent. */
  depth: number;
}

/** State that a run passes from one execution to the next; its record has the rest. */
export interface RunProgress {
  /** Number of steps committed so far in this turn. */
  step: number;
  known: number;
  /** Newest change of the record that the run has seen; the run begins by reading it again. */
  version?: number;
  /** Usage so far; absent when another run continues the turn. */
  spent?: Spent;
  /** True if the parent waits for a report of the run's end. */
  reportsEnd?: boolean;
}

/** A run's next action, according to its record. Calls are named by id. */
export type Next =
  /** `isFirst`: no step of this run is committed. */
  | {
      do: 'model';
      step: number;
      isFirst?: true;
      /** The model may only submit its result. */
      mustFinish?: true;
    }
  | OpenCalls
  /** No work is left, so the run must be ended. */
  | { do: 'end'; step: number }
  | { do: 'done'; step: number; status: TerminalStatus | 'superseded'; error?: RunError };

/** Unsettled calls of the newest committed step; all of them proceed at once. */
export interface OpenCalls {
  do: 'open';
  step: number;
  /** Calls that are executed, or will be. */
  machine?: string[];
  children?: string[];
  people?: string[];
  /** Calls whose tools wait for webhooks. */
  asleep?: string[];
  /** Time until the record must be read again, ms. */
  dueInMs?: number;
  /** Set if the lists are left out, since calls are in progress. */
  isPartial?: true;
  /** Details of the calls; given with new calls, and in the reply to a look. */
  calls?: CallRef[];
}

export interface At {
  /** Number of changes of the conversation's record. */
  version: number;
  sequence: number;
  next: Next;
}

export interface RunSummary {
  status: Exclude<TerminalStatus, 'failed'> | 'superseded';
  steps: number;
  /** Page with the run's trace, if there is one. */
  trace?: string;
}

export type CallKind = 'server' | 'approval' | 'client' | 'subagent';

/**
 * Outcome of a call that is not answered in time: an approval is denied or approved; a client tool
 * gets the given result, or without one an error.
 */
export type OnExpiry = 'deny' | 'approve' | { result: unknown };

/** A call as the workflow knows it: no arguments. */
export interface CallRef {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  /** Names by which an answer refers to the call; a person may have changed the input since. */
  approvalId?: string;
  inputHash?: string;
  timeoutMs?: number;
  /** Time that people have to answer, ms after the pause. */
  deadlineMs?: number;
  /** Set if the call needs an activity of its own; with its settings, if the tool has any. */
  activity?: CallActivity;
  /** Set on calls of kind `subagent`: the run that carries them out. */
  child?: ChildRef;
  /** Set while the call waits for its webhook. */
  isSuspended?: true;
}

export interface CallActivity {
  /** Default: the queue for tools beside the run's own. */
  taskQueue?: string;
  startToCloseTimeout?: number;
  scheduleToStartTimeout?: number;
  scheduleToCloseTimeout?: number;
  retry?: {
    initialInterval?: number;
    maximumInterval?: number;
    backoffCoefficient?: number;
    /** Counts failed executions, and attempts that are lost or wait for a slot. */
    maximumAttempts?: number;
  };
}

export interface ChildRef extends RunRef {
  maxSteps: number;
  hasOutput?: boolean;
  activities?: RunShape;
}

/** Returns the input of the sub-agent's run that carries out a call of the parent. */
export function toChildInput(parent: RunInput, child: ChildRef, toolCallId: string): RunInput {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  const { searchAttributes, model, sessionUrl, traceUrl, sealsFailures, hasLeases, notify } =
    parent;
  const depth = (parent.parent?.depth ?? 0) + 1;
  const own = { sessionId, runId, agent, turn: 1, maxSteps, hasOutput, activities };
  const shared = {
    searchAttributes,
    model,
    sessionUrl,
    traceUrl,
    sealsFailures,
    hasLeases,
    notify,
  };
  const ref = { sessionId: parent.sessionId, runId: parent.runId, toolCallId, depth };
  return { ...own, ...shared, parent: ref };
}

/**
 * Verdict on a step's submission of the run's result. `valid`: the run ends with it once the calls
 * of the step are settled; `invalid`: the model got the reason; `missing`: the step ended without
 * one, and the model is asked for it.
 */
export type FinishVerdict = 'valid' | 'invalid' | 'missing';

export interface Spent {
  tokens: number;
  /** Millionths of a dollar; absent without prices. */
  microUsd?: number;
}

/** Work that is left after a step; stored with it, so that a repeated claim returns the same. */
export type StepOutcome =
  | {
      kind: 'calls';
      step: number;
      calls: CallRef[];
      sequence?: number;
      finish?: FinishVerdict;
      /** State for an execution that continues from the record alone. */
      invalidFinishes?: number;
      mustFinish?: boolean;
      spent?: Spent;
    }
  | {
      kind: 'ended';
      step: number;
      status: TerminalStatus;
      error?: RunError;
      sequence?: number;
      spent?: Spent;
    }
  /** Another run owns the session, or this one was ended elsewhere. */
  | { kind: 'superseded' }
  /** A call of the previous step still waits: the wake-up came too early. */
  | { kind: 'not_ready' };

/** The calls that a complete batch of answers releases, or whose tool's wait is over. */
export interface Resumption {
  step: number;
  approved: string[];
}

/** Payload of `look`, a signal or an update. It decides nothing, since every activity asks the record first. */
export interface Hint {
  /** Current state of the record, which saves the run a look at it. */
  at?: At | undefined;
  /** True if the record ended the run during a wait for its provider; no attempt reports that. */
  ended?: boolean | undefined;
  /** W3C `traceparent` of the request that lets the run continue. */
  traceparent?: string | undefined;
}

export interface AgentState {
  runId: string;
  step: number;
  phase: 'start' | 'model' | 'tools' | 'waiting' | 'ended';
  waitingFor: CallRef[];
  /** ms since the epoch; present while the run waits. */
  waitingSince?: number;
  /** Usage up to the newest committed step; absent before the first. */
  spent?: Spent;
}

/** Usage of a run's model calls, discarded attempts included. Fields that are 0 are absent. */
export interface RunUsage extends Usage {
  /** Millionths of a dollar, according to the agent's `pricing`. */
  costMicroUsd?: number;
}

/** Triggers of a schedule by hand. Pure, since workflow code imports this file. */

/** A person who asked, by the name within the tenant. */
export interface Asker {
  by: string;
  personId?: string | undefined;
}

export interface Trigger extends Asker {
  /** Time of the trigger, ms since the epoch by the clock of its process. */
  at: number;
}

/** Temporal's clock may differ from that of the API by a minute, and firings are named by the second. */
const SAME_MS = 2 * 60_000;
/** A buffered firing keeps its first time, so old triggers are kept, up to this many. */
const MAX = 500;

/** Adds a trigger; returns the same list if it has this trigger. */
export function addTrigger(triggers: readonly Trigger[], trigger: Trigger): readonly Trigger[] {
  const isNoted = triggers.some(({ by, at }) => by === trigger.by && at === trigger.at);
  return isNoted ? triggers : [...triggers, trigger].slice(-MAX);
}

/**
 * Returns the askers of a firing: the creator of the schedule, then those who triggered it, the
 * nearest in time first. Temporal does not tell a trigger from a scheduled time, so firings within
 * two minutes of a trigger count as triggered.
 */
export function askersOf(
  input: Partial<Asker> & {
    owner: string;
    triggers?: readonly Trigger[] | undefined;
  },
  firedAt: number,
): [Asker, ...Asker[]] {
  const { owner, by = owner, personId, triggers = [] } = input;
  const distance = ({ at }: Trigger): number => Math.abs(at - firedAt);
  const near = triggers
    .filter((each) => distance(each) <= SAME_MS)
    .sort((a, b) => distance(a) - distance(b));
  return [{ by, personId }, ...near.map(({ at: _at, ...asker }) => asker)];
}
