import type { FinishReason } from '../../protocol/chunk.js';
import type { Row } from '../../protocol/rows.js';
import type {
  Resumption,
  RunError,
  RunMode,
  RunStatus,
  StopRequest,
  StreamStatus,
} from '../../protocol/run.js';
import type { OpenCall, Wake } from './call-record.js';
import type { CustomState } from './custom-state.js';
import type { QueuedEntry } from './queue.js';
import type { InterruptRecord, RunUsage, UserMessage } from './runs.js';

/** Sessions: reads of one, and what makes or removes it as a whole. */
export interface Sessions {
  /** The session's record, or undefined. One read, consistent in itself. */
  read: (sessionId: string) => Promise<SessionRecord | undefined>;
  /** Rows of the transcript `from` (inclusive, 0-based) up to `to` (exclusive; all when absent). */
  rows: (sessionId: string, from: number, to?: number) => Promise<Row[]>;
  /** Everything a snapshot is made of, read at one moment, with the calls of sub-agents. */
  view: (sessionId: string) => Promise<SessionView | undefined>;
  /**
   * The same without transcript and queue: the record and the calls that the session waits for. With
   * an owner, the calls of a session that belongs to another owner are not read.
   */
  withCalls: (
    sessionId: string,
    owner?: Pick<SessionRecord, 'owner' | 'tenant'>,
  ) => Promise<SessionCalls | undefined>;
  /** Which of these user message ids the session has accepted. */
  acceptedMessages: (sessionId: string, ids: string[]) => Promise<string[]>;
  /** Remembers for 60 s that a snapshot of an active turn was handed out. */
  noteActiveSnapshot: (sessionId: string, turn: number) => Promise<void>;
  /** Forgets that: a snapshot of the turn at rest was handed out since. */
  noteRestingSnapshot: (sessionId: string, turn: number) => Promise<void>;
  /**
   * True if what tenants begin may be stored under ids that tell them apart; false while a process of
   * release 0.2.0, which knows no such ids, may be at work on the same record.
   */
  tenantsApart: () => boolean | Promise<boolean>;
  /** Makes a session at rest out of rows of another one. */
  branch: (input: BranchInput) => Promise<BranchResult>;
  /** Erases the session and its stream; readers see the end. Harmless when there is none. */
  erase: (sessionId: string) => Promise<void>;
}

export interface SessionRecord {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  createdAt: number;
  updatedAt: number;
  /** Sequence of the newest entry. */
  sequence: number;
  turn: number;
  /** The newest run. */
  runId: string;
  status: RunStatus;
  stream: StreamStatus;
  messageId: string;
  turnStartSequence: number;
  /** Index of the turn's first row. */
  turnStartRow: number;
  runStartedAt: number;
  runMode: RunMode;
  /** Who asked for the newest run, if that was recorded. */
  runBy?: string;
  /** Sequence before the newest run's first entry; that of the turn unless the turn had a run before. */
  runStartSequence: number;
  /** Step of the turn behind which the newest run goes on; 0 if it began the turn. */
  runFromStep: number;
  committedStep: number;
  /** Step that a writer owns or owned last. */
  claimedStep: number;
  /** Sequence at the newest pause. */
  pauseSequence: number;
  /** Earliest deadline of the calls that wait, ms since the epoch by the store's clock. */
  deadline?: number;
  /** While the run waits for its model's provider: when that is asked again, ms by the store's clock. */
  waitsUntil?: number;
  checkpointId?: string;
  error?: RunError;
  stop?: StopRequest;
  /** Set from the answer that completed a batch until the next step is claimed. */
  resume?: Resumption;
  /** True once a call that those answers approved has started: the wake-up has arrived. */
  resumeTaken?: boolean;
  /** Turn whose newest snapshot of the last 60 s was handed out while it was active. */
  activeSnapshotTurn?: number;
  /** Version of the agent's own state; 0 until it is first saved. */
  stateVersion: number;
  /** Its version when the turn began; present once the turn's first step is committed. */
  turnStateVersion?: number;
  /** What the newest run has used. */
  usage?: RunUsage;
  /** Why the model ended its newest committed reply of this run. */
  finishReason?: FinishReason;
  /** The result of the newest run, once its model has handed it in. */
  output?: unknown;
  /** How the newest run was stopped. */
  interrupted?: InterruptRecord;
  /** Runs of sub-agents that answers let go on, until they do. */
  wakes?: Wake[];
  /** The call that a sub-agent's session was made for. */
  parent?: { sessionId: string; runId: string; toolCallId: string };
  /** Of a sub-agent's: steps that its conversation has committed. */
  conversationStep?: number;
  /** Changes when the session is rewound; tells it from an erased one of the same id, too. */
  born: string;
  /** How many entries wait for their turn. */
  queued: number;
}

export interface SessionView {
  record: SessionRecord;
  rows: Row[];
  openCalls: OpenCall[];
  /** In the order in which they are answered. */
  queue: QueuedEntry[];
}

/** A session and the calls of its newest step, without the transcript. */
export type SessionCalls = Pick<SessionView, 'record' | 'openCalls'>;

export interface BranchInput {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Tells this session from another of the same id. */
  nonce: string;
  /** Who asked, for the record. */
  by?: string;
  /** The transcript, in which every call has its result. */
  rows: Row[];
  /** Its user messages, as they were accepted. */
  messages: Pick<UserMessage, 'id' | 'hash'>[];
  /** Its newest turn: number, first row, the reply's id and last step. */
  turn: { turn: number; row: number; messageId: string; step: number; hasReplied: boolean };
  /** How many messages people see. */
  visibleMessages: number;
  state?: CustomState;
  now: number;
}

export type BranchResult = { kind: 'branched' } | { kind: 'exists' };
