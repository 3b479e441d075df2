import type { FinishReason } from '../../protocol/chunk.js';
import type { KnownPerson } from '../../protocol/actor.js';
import type { Row } from '../../protocol/rows.js';
import type {
  Resumption,
  RunError,
  RunMode,
  RunStatus,
  StopRequest,
  StreamStatus,
} from '../../protocol/run.js';
import type { Branch, BranchReply } from '../../session/branch.js';
import type { Act } from './audit.js';
import type { OpenCall, Wake } from './call-record.js';
import type { ReadMeter } from './log.js';
import type { QueuedEntry } from './queue.js';
import type { InterruptRecord, RunUsage } from './runs.js';

export type { Branch as BranchInput, BranchReply as BranchResult } from '../../session/branch.js';

/** Sessions: reads of a session, and the changes that create or remove it as a whole. */
export interface Sessions {
  read: (sessionId: string) => Promise<SessionRecord | undefined>;
  /**
   * Rows of the transcript `from` (inclusive, 0-based; a negative number counts from the end) up to `to`
   * (exclusive; all when absent).
   */
  rows: (sessionId: string, from: number, to?: number, meter?: ReadMeter) => Promise<Row[]>;
  /** Ids of the stored sessions of its sub-agents, at every depth; sorted. */
  children: (sessionId: string) => Promise<string[]>;
  /** The session of the sub-agent that carries out each of these calls, or did. */
  carriers: (sessionId: string, toolCallIds: string[]) => Promise<(string | undefined)[]>;
  /** Everything for a snapshot, with the calls of sub-agents, read at one moment; all rows, or only the wanted ones. */
  view: (
    sessionId: string,
    meter?: ReadMeter,
    wanted?: WantedRows,
  ) => Promise<SessionView | undefined>;
  /** The view without transcript and queue. If the session has another owner than `owner`, its calls are not read. */
  withCalls: (
    sessionId: string,
    owner?: Pick<SessionRecord, 'owner' | 'tenant'>,
  ) => Promise<SessionCalls | undefined>;
  /** Returns those of these user message ids that the session has accepted. */
  acceptedMessages: (sessionId: string, ids: string[]) => Promise<string[]>;
  /** The newest run of an accepted message's turn; undefined while the message is queued, and for a copied message. */
  runOf: (sessionId: string, messageId: string) => Promise<string | undefined>;
  /** The people who ask in the turns of these accepted messages, as in a record. */
  askers: (sessionId: string, messageIds: string[]) => Promise<(readonly KnownPerson[])[]>;
  /** Remembers for 60 s that a snapshot or history of this turn was read while it was active; forgets that after one at rest. */
  noteSnapshot: (sessionId: string, turn: number, isActive: boolean) => Promise<void>;
  /** Creates an idle session from rows of another one. */
  branch: (input: Branch) => Promise<BranchReply>;
  /**
   * Erases the session and its stream; readers get the end. Does nothing if the session does not exist. With an act,
   * the remaining work outside the record is noted among the erasures.
   */
  erase: (sessionId: string, act?: Act) => Promise<void>;
}

export interface SessionRecord {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  createdAt: number;
  updatedAt: number;
  sequence: number;
  turn: number;
  runId: string;
  status: RunStatus;
  stream: StreamStatus;
  messageId: string;
  turnStartSequence: number;
  turnStartRow: number;
  runStartedAt: number;
  runMode: RunMode;
  runBy?: string;
  /** The people who ask in the newest turn: its author first, then everyone who repeated, continued or copied it. */
  askers: readonly KnownPerson[];
  /** Some of its messages are, or were, shown to models only. */
  hasHidden?: true;
  /** Bytes of its transcript, queue, results and states. */
  storedBytes?: number;
  /** Sequence before the newest run's first entry; equal to the turn's unless the turn had an earlier run. */
  runStartSequence: number;
  /** The newest run continues after this step of the turn; 0 if it began the turn. */
  runFromStep: number;
  committedStep: number;
  /** Step that a writer owns or owned last. */
  claimedStep: number;
  /** Sequence of the newest pause. */
  pauseSequence: number;
  /** The newest run's newest leg: number, beginning, and the run's usage before it. Absent for its first leg. */
  leg?: { number: number; at: number; used?: RunUsage | undefined };
  /** Earliest deadline of the waiting calls, ms since the epoch by the store's clock. */
  deadline?: number;
  /** Time of the next attempt at the provider, or of the beginning of a `starting` run; ms by the store's clock. */
  waitsUntil?: number;
  checkpointId?: string;
  error?: RunError;
  stop?: StopRequest;
  /** Present from the answer that completes a batch until the next step is claimed. */
  resume?: Resumption;
  /** True once a call that `resume` newly released has started, which shows that the wake-up has arrived. */
  resumeTaken?: boolean;
  /** Turn whose newest snapshot or history within the last 60 s was read while it was active. */
  activeSnapshotTurn?: number;
  /** Version of the agent's own state; 0 until it is first saved. */
  stateVersion: number;
  usage?: RunUsage;
  /** Why the model ended its newest committed reply of this run. */
  finishReason?: FinishReason;
  /** The result of the newest run, once its model has submitted it. */
  output?: unknown;
  interrupted?: InterruptRecord;
  /** Answered runs of sub-agents that have not continued yet. */
  wakes?: Wake[];
  /** The call for which a sub-agent's session was created. */
  parent?: { sessionId: string; runId: string; toolCallId: string };
  /** For a sub-agent: steps that its conversation has committed. */
  conversationStep?: number;
  /** Changes when the session is rewound. Differs between successive sessions with the same id. */
  born: string;
  queued: number;
}

/** The newest turn, or visible messages from an index up to another, with the rest of their turns. */
export type WantedRows = 'turn' | { from: number; to: number };

export interface SessionView {
  record: SessionRecord;
  rows: Row[];
  /** Index of the first of the rows. Default: 0. */
  firstRow?: number;
  /** Number of visible messages before the rows, if messages were wanted. Default: 0. */
  messagesBefore?: number;
  /** True if other turns follow the rows. */
  hasMore?: boolean;
  openCalls: OpenCall[];
  /** In the order in which the messages are answered. */
  queue: QueuedEntry[];
}

/** A session and the calls of its newest step, without the transcript. */
export type SessionCalls = Pick<SessionView, 'record' | 'openCalls'>;
