import type { FinishReason, StreamChunk } from '../../protocol/chunk.js';
import type { AssistantPart, Decision, Row } from '../../protocol/rows.js';
import type {
  CallKind,
  ChildRef,
  Resumption,
  RunError,
  RunMode,
  RunStatus,
  StepOutcome,
  StopRequest,
  StreamStatus,
} from '../../protocol/run.js';
import type { CallSpec, CallState, Wake } from '../contract/call-record.js';
import type { Checkpoint } from '../contract/checkpoints.js';
import type { CustomState } from '../contract/custom-state.js';
import type { QueuedEntry } from '../contract/queue.js';
import type { InterruptRecord, RunUsage, RunInfo } from '../contract/runs.js';
import type { StagedChanges } from '../contract/staging.js';
import type { Json } from './json.js';
import { createLog, type MemoryLog } from './log.js';

/** A session with its stream, or a stream that is used by itself; a sub-agent's shares its conversation's. */
export interface MemorySession {
  readonly id: string;
  /** The session of the conversation; itself if it is that. */
  readonly root: MemorySession;
  readonly log: MemoryLog;
  /** The call that a sub-agent's session was made for. */
  parent?: Parent;
  /** Sub-agents' sessions of a conversation, by their ids. */
  readonly children: Map<string, MemorySession>;
  /** Whose calls these are: of the conversation's sub-agents, by call id. */
  readonly owners: Map<string, { sessionId: string; call?: string }>;
  /** Runs of sub-agents that answers let go on, by session id. */
  readonly wakes: Map<string, Json<Wake>>;
  /** Absent until a run or a writer opens the stream: then there is nothing to keep. */
  stream?: StreamStatus;
  /** Why a stream without runs has failed. */
  streamError?: string | undefined;
  /** Set by the first run. */
  identity?: Identity;
  /** The newest run. */
  run?: MemoryRun;
  /** How many runs there were. */
  runCount: number;
  updatedAt: number;
  /** Messages that people see. */
  visibleMessages: number;
  pauseSequence: number;
  checkpointId?: string | undefined;
  /** Version of the custom state that the newest checkpoint names. */
  checkpointVersion: number;
  stateVersion: number;
  /** The version that a turn's first step was committed with. */
  turnState?: { turn: number; version: number } | undefined;
  /** The newest active snapshot that was handed out. */
  snapshot?: { turn: number; at: number } | undefined;
  /** True once rows were dropped: ids of calls are used that no row has. */
  isRewound: boolean;
  readonly rows: Json<Row>[];
  /** Calls of the newest committed step that no later step has taken in, in their order. */
  readonly calls: Map<string, MemoryCall>;
  /** Calls that timed out and were taken in so. */
  readonly lapsed: Map<string, LapsedCall>;
  /** Hidden rows for the model that wait for the next step or turn. */
  readonly notices: Json<Row>[];
  /** Ids of all calls that were taken in. */
  readonly settled: Set<string>;
  /** What can still progress without a person: `model`, or ids of calls. */
  readonly busy: Set<string>;
  /** In the order in which it is answered. */
  queue: Json<QueuedEntry>[];
  readonly writers: Map<string, WriterName>;
  /** Provider failures by step of the newest run. */
  readonly failures: Map<number, number>;
  /** Hashes of the accepted user messages by id. */
  readonly accepted: Map<string, string>;
  readonly endedRuns: Json<RunInfo>[];
  readonly checkpoints: Json<Checkpoint>[];
  /** The agent's own state by version. */
  readonly states: Map<number, Json<CustomState>>;
  /** By step and call. */
  readonly staged: Map<string, { n: number; changes: Json<StagedChanges> }>;
  stagedCount: number;
  /** When everything goes, ms since the epoch. */
  expiresAt?: number | undefined;
}

export interface Parent {
  session: MemorySession;
  runId: string;
  toolCallId: string;
}

export interface Identity {
  agent: string;
  owner: string;
  /** Empty if there is none. */
  tenant: string;
  createdAt: number;
  /** Changes when the session is rewound; tells it from an erased one of the same id, too. */
  born: string;
}

export interface MemoryRun {
  readonly runId: string;
  /** Of its newest turn, as the next three: messages that steer a run begin another one. */
  turn: number;
  messageId: string;
  /** Sequence before the turn's first entry. */
  startSequence: number;
  startRow: number;
  readonly startedAt: number;
  readonly mode: RunMode;
  readonly by?: string | undefined;
  /** Sequence before the run's first entry. */
  readonly runSequence: number;
  /** Step of the turn behind which the run goes on. */
  readonly fromStep: number;
  status: RunStatus;
  committedStep: number;
  claimedStep: number;
  /** True once the turn has a reply. */
  hasReplied: boolean;
  /** What the newest committed step left to do. */
  outcome?: Json<StepOutcome>;
  error?: Json<RunError>;
  stop?: Json<StopRequest> | undefined;
  resume?: Json<Resumption> | undefined;
  resumeTaken: boolean;
  /** Sub-agents that it has started, at all depths. */
  subAgents: number;
  /** It was refused: there were too many sub-agents. */
  isOverLimit?: boolean;
  interrupted?: Json<InterruptRecord>;
  usage?: RunUsage | undefined;
  finishReason?: FinishReason;
  /** The result that the model handed in. */
  output?: Json<unknown>;
}

export interface MemoryCall {
  readonly toolName: string;
  readonly kind: CallKind;
  readonly spec: Json<CallSpec>;
  readonly deadlineMs: number | undefined;
  readonly idempotent: boolean;
  /** Of a sub-agent's call: who carries it out. */
  readonly child: ChildRef | undefined;
  /** The message that the sub-agent's run begins with. */
  readonly brief: Json<Row> | undefined;
  /** Asks people, and is kept back until the pause. */
  ask?: { chunk: Json<StreamChunk>; part: AssistantPart } | undefined;
  /** The run that asked has been told that it may go on. */
  isTold: boolean;
  state: CallState;
  executions: number;
  row?: Json<Row>;
  decision?: Json<Decision>;
  /** Sequence of the pause that asked. */
  askedAt?: number;
  deadline?: number;
  /** Who carries it out, and until when; ms by the store's clock. */
  lease?: { holder: string; until: number };
  /** Settled by its deadline, and the model has not been told: a late result replaces it. */
  hasTimedOut: boolean;
}

export interface LapsedCall {
  readonly kind: CallKind;
  readonly toolName: string;
  /** The model has been told of an answer that came too late. */
  isTold: boolean;
}

/** A claimed name of a writer. */
export interface WriterName {
  readonly token: number;
  /** Of a writer of no run. */
  readonly nonce: string | undefined;
  /** Newest batch, and the sequence that it was answered with. */
  batch: number;
  batchSequence: number;
  /** Sequence before the first entry that a later attempt would withdraw. */
  first: number;
}

/** What a transition knows beyond its input. */
export interface StoreContext {
  /** The store's clock, ms since the epoch: deadlines and expiry do not depend on callers' clocks. */
  now: number;
  /** 0: for ever. */
  sessionTtlSeconds: number;
  streamTtlSeconds: number;
  /** Entries of a stream before whole old turns are trimmed; 0: never. */
  maxEntries: number;
}

/** Of a conversation, or of a sub-agent in one. */
export function createSession(id: string, conversation?: MemorySession): MemorySession {
  const session: Omit<MemorySession, 'root'> = {
    id,
    log: conversation?.log ?? createLog(),
    children: new Map(),
    owners: new Map(),
    wakes: new Map(),
    runCount: 0,
    updatedAt: 0,
    visibleMessages: 0,
    pauseSequence: 0,
    checkpointVersion: 0,
    stateVersion: 0,
    isRewound: false,
    rows: [],
    calls: new Map(),
    lapsed: new Map(),
    notices: [],
    settled: new Set(),
    busy: new Set(),
    queue: [],
    writers: new Map(),
    failures: new Map(),
    accepted: new Map(),
    endedRuns: [],
    checkpoints: [],
    states: new Map(),
    staged: new Map(),
    stagedCount: 0,
  };
  return Object.assign(session, { root: conversation ?? session }) as MemorySession;
}
