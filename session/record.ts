import type { FinishReason } from '../protocol/chunk.js';
import type { KnownPerson } from '../protocol/actor.js';
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

export const LAYOUT = 1;

/**
 * The stored record of a conversation, or of a sub-agent's session. Content (messages, inputs, results), calls and
 * writers are stored separately, by id. Times are ms since the epoch.
 */
export interface SessionRecord {
  /** A build that reads a higher layout number changes nothing. */
  layout: number;
  /** Absent for a stream that was opened without a session. */
  agent?: string;
  owner: string;
  tenant: string;
  created: number;
  updated: number;
  /** Changes when the session is rewound, and differs between sessions that had the same id. */
  born: string;
  /** The session was rewound, so a new call may reuse the id of a dropped one. */
  rewound?: true;
  /** Visible messages. */
  visible: number;
  /** Some messages were shown to models only. Remains set if they are withdrawn. */
  hasHidden?: true;
  turn: Turn;
  run: Run;
  /** The newest checkpoint, and the state version it refers to. `isOver`: the end of its step's entries is noted. */
  checkpoint?: { id: string; stateVersion: number; isOver?: true };
  checkpoints: number;
  state: States;
  /** Waiting entries; their messages are stored as content, by id. */
  queue: QueueEntry[];
  /** Ids of notes that the next step or turn adds to the transcript for the model. */
  notices: string[];
  /** The newest snapshot or history that a client read while its turn was active. */
  snapshot?: { turn: number; at: number };
  stream: StreamStatus | undefined;
  streamError?: string;
  sizes: Sizes;
  /** Usage of all ended runs, and their number. */
  spent: Usage;
  runs: number;
  expires?: number;
  /** For a sub-agent's session: the call that it carries out, and the conversation's run. */
  parent?: { part: string; runId: string; toolCallId: string; isOverLimit?: true };
  /** Released runs of sub-agents that have not continued yet, by part. */
  wakes: Record<string, Resumption & { runId: string }>;
}

/** A user input and everything that answers it. */
export interface Turn {
  n: number;
  /** Index of its first row. */
  row: number;
  /** Sequence before its first entry. */
  sequence: number;
  /** Control messages before it; unknown after a rewind. */
  controls?: number;
  messageId: string;
  hasReplied: boolean;
  /** The people who ask, each once. The author of the messages comes first and alone has roles. */
  askers: readonly KnownPerson[];
  /** State version when the turn began; absent until a step is committed. */
  stateVersion?: number;
}

/** Position of a turn, stored by its number. */
export type TurnPlace = Pick<Turn, 'row' | 'sequence' | 'messageId' | 'askers'> & { run?: string };

/** The entry stored under the id of a user message; `row` and `turn` are absent while it is queued. */
export interface Accepted {
  hash: string;
  row?: number;
  turn?: number;
}

export interface Checkpoint {
  id: string;
  runId: string;
  stepCount: number;
  /** Number of transcript rows at the commit. */
  messageCount: number;
  streamSequence: number;
  timestamp: number;
  stateVersion: number;
}

export interface Run {
  id: string;
  n: number;
  mode: RunMode;
  /** The requester, or '' for the owner. */
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
  /** Content id of its result. */
  outputRef?: string;
  /** Number of calls that can progress without a person. */
  busyCalls: number;
  hasModel: boolean;
  /** Calls of the newest committed step. */
  calls: number;
  /** The calls that the newest batch of answers released. `isTaken`: the run has taken them. */
  resume?: Resumption;
  isTaken?: true;
  releases: number;
  /** Earliest deadline of waiting calls. */
  deadline?: number;
  /** Time of the retry while it waits for its provider, or its start time. */
  waitsUntil?: number;
  /** Number of sub-agents that it has started. */
  children: number;
  /** Sequence before the entries of an unfinished step. */
  openSequence?: number;
  leg?: { n: number; at: number; used?: Usage };
}

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

export function sumOf(a: Usage = NOTHING, b: Usage = NOTHING): Usage {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]];
}

/** Returns true for a run that only people, or sub-agents that wait for people, can continue. */
export function isResting(status: RunStatus): boolean {
  return ['waiting_approval', 'waiting_tool', 'waiting_children'].includes(status);
}

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

/** Versions of the agent's own state. The texts are stored as content. */
export interface States {
  version: number;
  /** Nonce of the request that saved it. */
  by?: string;
  kept: [version: number, bytes: number][];
  /** Turns with the version each began with, oldest first. */
  turns: [turn: number, version: number][];
  /** Changes that calls request, in order. A later change of a call replaces its earlier one. */
  staged: { step: string; call: string }[];
}

export interface QueueEntry {
  mode: 'queue' | 'steer' | 'interrupt';
  queuedAt: number;
  by?: string;
  askers: readonly KnownPerson[];
  /** A run that ends as abandoned, rather than asking people, while this entry waits. */
  withdraws?: string;
  messages: { id: string; hash: string; hidden: boolean }[];
}

/** A call of the newest committed step. Its spec, result and other texts are stored as content. */
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
  /** Time limit for people, ms after the pause. */
  waitMs?: number;
  /** People are asked when the conversation pauses; until then the question is content. */
  isHeld?: true;
  /** Sequence of the pause that asked. */
  asked?: number;
  deadline?: number;
  /** Time from which people can answer it. */
  since?: number;
  /** It timed out. */
  isLate?: true;
  /** The run was woken for the answer. */
  isTold?: true;
  /** Number of executions. */
  n: number;
  /** The tool is asked to verify a lost execution. */
  isUnsure?: true;
  hasDecision?: true;
  /** Number of times people edited the input; the newest edit is content. */
  edits?: number;
  isAutomatic?: true;
  /** Number of the first release that named the call. */
  release?: number;
  lease?: { until: number; holder: string };
  /** The sub-agent's run that carries it out. */
  child?: ChildRef & { part: string };
  /** Secret in the webhook's address. `isCalled`: the webhook was called. */
  hook?: string;
  isCalled?: true;
}

/** A call whose result is in the transcript. */
export interface Past {
  kind?: CallKind;
  name?: string;
  row?: number;
  hook?: string;
  /** The model was told of a late answer, or the webhook was called. */
  told?: true;
}

/** A writer of the log: the model of a step, or a call. */
export interface Writer {
  token: number;
  /** Sequence before its first entry. */
  first: number;
  /** An earlier owner left entries (`wrote`), or they were withdrawn in part. */
  left?: 'wrote' | 'withdrawn';
  lost?: { token: number; at: number }[];
  forgiven?: number;
  handedOver?: number;
  /** For a writer without a run: identifies repeated requests. */
  nonce?: string;
  failures?: number;
  failingSince?: number;
  waits?: number;
  fallback?: { index: number; before: number };
}

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
