import type { FinishReason } from '../protocol/chunk.js';
import type { KnownPerson } from '../protocol/responder.js';
import type {
  CallKind,
  ChildRef,
  Resumption,
  RunError,
  RunMode,
  RunStatus,
  RunUsage,
  StepOutcome,
  StopMode,
  StopRequest,
  StreamStatus,
} from '../protocol/run.js';

/** Layout of the records that this build reads and writes. */
export const LAYOUT = 1;

/**
 * The record of a session as it is stored: what is known of a conversation, or of a sub-agent's session below it.
 * Content (messages, inputs, results) is not in it but beside it, by id; so are calls and writers, one by one.
 * Times are ms since the epoch.
 */
export interface SessionRecord {
  /** Number of the layout; a build that meets a higher one changes nothing. */
  layout: number;
  /** Absent while only a stream exists, which belongs to no run. */
  agent?: string;
  owner: string;
  tenant: string;
  created: number;
  updated: number;
  /** Changes when the session is rewound, and differs between sessions that had the same id. */
  born: string;
  /** A copy is being made under this nonce. */
  branching?: string;
  /** Once rewound: ids of calls may be those of calls that were dropped. */
  rewound?: true;
  /** Visible messages. */
  visible: number;
  /** Some messages were shown to models only. Stays if they are withdrawn. */
  hasHidden?: true;
  turn: Turn;
  run: Run;
  /** The newest checkpoint, the version of the state that it refers to, and how many there are. `isOver`: it is noted where its step's entries end. */
  checkpoint?: { id: string; stateVersion: number; isOver?: true };
  checkpoints: number;
  state: States;
  /** What the conversation has waiting; its messages are beside it, by id. */
  queue: QueueEntry[];
  /** Ids of notes for the model that the next step or turn takes in. */
  notices: string[];
  /** What people or pages were last shown. */
  snapshot?: { turn: number; at: number };
  /** Of the conversation: its log and what is stored. */
  stream: StreamStatus | undefined;
  streamError?: string;
  sizes: Sizes;
  /** Usage of all ended runs, and their number. */
  spent: Usage;
  runs: number;
  /** Keys expire: `at`. */
  expires?: number;
  /** Of a sub-agent's session: the call that it carries out, and the conversation's run. */
  parent?: { part: string; runId: string; toolCallId: string; rootRun: string; isOverLimit?: true };
  /** Runs of sub-agents that may go on, until they do, by part. */
  wakes: Record<string, Resumption & { runId: string }>;
}

/** One user input and all that answers it. */
export interface Turn {
  n: number;
  /** First row. */
  row: number;
  /** Sequence before its first entry. */
  sequence: number;
  /** Control messages before it; unknown after a rewind. */
  controls?: number;
  /** UI message id of the reply. */
  messageId: string;
  /** The reply has a row. */
  hasReplied: boolean;
  /** Who asks by it, each once: the author of its messages first, the only one with roles. */
  askers: readonly KnownPerson[];
  /** Version of the state when it began, once a step is committed. */
  stateVersion?: number;
}

/** Where a turn is, found by its number. */
export type TurnPlace = Pick<Turn, 'row' | 'sequence' | 'messageId' | 'askers'> & { run?: string };

/** What is found by the id of a user message; without a place while it is queued. */
export interface Accepted {
  hash: string;
  row?: number;
  turn?: number;
}

/** What a committed step has left. */
export interface Checkpoint {
  id: string;
  runId: string;
  stepCount: number;
  /** Number of rows in the transcript at that moment. */
  messageCount: number;
  streamSequence: number;
  timestamp: number;
  /** Version of the custom state at that moment. */
  stateVersion: number;
}

/** The newest run. */
export interface Run {
  id: string;
  n: number;
  mode: RunMode;
  /** Who asked for it, if that was not the owner. */
  by: string;
  status: RunStatus;
  started: number;
  /** Sequence before its first entry. */
  sequence: number;
  /** Sequence of the newest pause. */
  paused: number;
  /** The last step that was committed before it began. */
  fromStep: number;
  claimed: number;
  committed: number;
  outcome?: StepOutcome;
  stop?: StopRequest;
  error?: RunError;
  interrupted?: InterruptRecord;
  usage?: Usage;
  finishReason?: FinishReason;
  model?: string;
  /** Its result is kept as content under this id. */
  outputRef?: string;
  /** What can progress without a person: how many calls, and whether a model does. */
  busyCalls: number;
  hasModel: boolean;
  /** Calls of the newest committed step. */
  calls: number;
  /** What the newest batch of answers has released, and whether the run has taken it. */
  resume?: Resumption;
  isTaken?: true;
  releases: number;
  /** Earliest deadline of waiting calls. */
  deadline?: number;
  /** It waits for its provider, or for the time at which it begins. */
  waitsUntil?: number;
  /** Sub-agents that it has started. */
  children: number;
  /** Sequence before the entries of an unfinished step. */
  openSequence?: number;
  leg?: { n: number; at: number; used?: Usage };
}

/** How a run was stopped. */
export interface InterruptRecord {
  runId: string;
  mode: StopMode;
  reason?: string;
  by?: string;
  /** ms since the epoch. */
  at: number;
  checkpointId: string | null;
}

/** Input, output, cached, written to the cache, reasoning tokens; millionths of a dollar. */
export type Usage = readonly [number, number, number, number, number, number];

export const NOTHING: Usage = [0, 0, 0, 0, 0, 0];

const NUMBERS = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'costMicroUsd',
] as const satisfies (keyof RunUsage)[];

export function toUsage(usage: RunUsage): Usage {
  return NUMBERS.map((name) => usage[name] ?? 0) as unknown as Usage;
}

export function fromUsage(usage: readonly number[]): RunUsage {
  const named = NUMBERS.map((name, at) => [name, usage[at] ?? 0] as const);
  return Object.fromEntries(named.filter(([, n], at) => at < 2 || n > 0)) as unknown as RunUsage;
}

/** The sum of both. */
export function sumOf(a: Usage = NOTHING, b: Usage = NOTHING): Usage {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]];
}

/** True for a run that only people, or sub-agents that wait for people, can continue. */
export function isResting(status: RunStatus): boolean {
  return ['waiting_approval', 'waiting_tool', 'waiting_children'].includes(status);
}

/** A sub-agent goes on, or has ended: nothing is to wake it. */
export function dropWake(record: SessionRecord, part: string): void {
  const others = Object.entries(record.wakes).filter(([name]) => name !== part);
  record.wakes = Object.fromEntries(others);
}

export interface Sizes {
  /** Bytes of transcript, queue, results and states. */
  stored: number;
  /** Bytes of the log before the newest turn. */
  logBefore: number;
  /** Everything was counted since the session was created. */
  isComplete: boolean;
  /** Control messages in the log. */
  controls: number;
}

/** The agent's own state, by version; its text is content. */
export interface States {
  version: number;
  /** The request that saved it. */
  by?: string;
  /** Versions that are kept. */
  kept: [version: number, bytes: number][];
  /** Turns with the version that each began with, the oldest first. */
  turns: [turn: number, version: number][];
  /** Changes that calls ask for, in their order: a later one of a call replaces an earlier one. */
  staged: { step: string; call: string }[];
}

export interface QueueEntry {
  mode: 'queue' | 'steer' | 'interrupt';
  queuedAt: number;
  by?: string;
  askers: readonly KnownPerson[];
  messages: { id: string; hash: string; hidden: boolean }[];
}

/** A call of the newest committed step. Its spec, result and other content stand beside it. */
export interface Call {
  id: string;
  name: string;
  kind: CallKind;
  state: 'open' | 'waiting' | 'approved' | 'started' | 'suspended' | 'settled';
  /** It can progress without a person. */
  isBusy?: true;
  /** It may be executed again after its worker was lost. */
  isIdempotent?: true;
  /** Its tool demands an approver. */
  isGuarded?: true;
  /** How long people may take, ms after the pause. */
  waitMs?: number;
  /** People have not been asked: what asks them is content. */
  isHeld?: true;
  /** Sequence of the pause that asked. */
  asked?: number;
  deadline?: number;
  /** Since when people can answer it. */
  since?: number;
  /** It timed out. */
  isLate?: true;
  /** The run was woken for its answer. */
  isTold?: true;
  /** Executions. */
  n: number;
  /** Its tool is asked whether a lost execution took effect. */
  isUnsure?: true;
  hasDecision?: true;
  /** How often a person has put another input in place of the model's; the newest one is content. */
  edits?: number;
  isAutomatic?: true;
  /** Number of the release that was the first to name it. */
  release?: number;
  lease?: { until: number; holder: string };
  /** The sub-agent that carries it out. */
  child?: ChildRef & { part: string };
  /** What the address of its webhook holds, and whether that was called. */
  hook?: string;
  isCalled?: true;
}

/** What is known of a call whose result is in the transcript. */
export interface Past {
  kind?: CallKind;
  name?: string;
  row?: number;
  hook?: string;
  /** The model was told of a late answer, or the webhook was called. */
  told?: true;
}

/** Who appends: the model of a step, or a call. */
export interface Writer {
  token: number;
  /** Sequence before its first entry. */
  first: number;
  /** An earlier owner has left entries, or they were withdrawn in part. */
  left?: 'wrote' | 'withdrawn';
  /** Attempts that count as lost. */
  lost?: { token: number; at: number }[];
  forgiven?: number;
  /** The attempt that has handed over. */
  handedOver?: number;
  /** Of a writer without a run: tells a repeated request from another one. */
  nonce?: string;
  /** How the provider fails at the step. */
  failures?: number;
  failingSince?: number;
  waits?: number;
  fallback?: { index: number; before: number };
}

/** The record of a session before its first run. */
export function newRecord(now: number): SessionRecord {
  return {
    layout: LAYOUT,
    owner: '',
    tenant: '',
    created: now,
    updated: now,
    born: '',
    visible: 0,
    turn: { n: 0, row: 0, sequence: 0, messageId: '', hasReplied: false, askers: [] },
    run: {
      id: '',
      n: 0,
      mode: 'new',
      by: '',
      status: 'completed',
      started: 0,
      sequence: 0,
      paused: 0,
      fromStep: 0,
      claimed: 0,
      committed: 0,
      busyCalls: 0,
      hasModel: false,
      calls: 0,
      releases: 0,
      children: 0,
    },
    checkpoints: 0,
    state: { version: 0, kept: [], turns: [], staged: [] },
    queue: [],
    notices: [],
    stream: undefined,
    sizes: { stored: 0, logBefore: 0, isComplete: false, controls: 0 },
    spent: [0, 0, 0, 0, 0, 0],
    runs: 0,
    wakes: {},
  };
}
