import { endsWithin } from '../../protocol/time.js';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { CompactionRecord } from '../../agents/prepared-step.js';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { ModelChoice, Pricing } from '../../agents/llm-settings.js';
import type { Instructions } from '../../agents/step-hooks.js';
import type { StepRef } from '../../protocol/activities.js';
import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Answered, Compaction, Eased, Row } from '../../protocol/rows.js';
import type { Writer } from '../../store/contract/log.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { ClaimResult, Fallback } from '../../store/contract/steps.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { ProviderFailure } from './provider-failure.js';
import type { KeptFile, StepReply } from './reply-types.js';

/** Progress of an attempt, as its heartbeats report it. */
export interface StepProgress {
  step: number;
  sequence: number;
  failures: number;
  /** Of the newest reply: its model, and what its provider reported. */
  model?: string;
  usage?: RunUsage;
}

/** One attempt of a step. */
export interface StepAttempt {
  ref: StepRef;
  attempt: Attempt;
  writer: Writer;
  progress: StepProgress;
}

export interface LoadedState {
  /** Deeply frozen. */
  state: unknown;
  /** What the schema adds to the stored state: at first its defaults, later those of a newer version. */
  added: JSONPatchOperation[];
}

/** The claimed step: its agent, and the conversation that its model gets. */
export interface ClaimedStep extends StepAttempt {
  agent: AgentDefinition;
  claim: Extract<ClaimResult, { kind: 'claimed' }>;
  rows: readonly Row[];
  /** The agent's own state; undefined for agents without one. */
  loaded: LoadedState | undefined;
  chunks: ChunkWriter;
  /** Logs an error that the step outlives. */
  warn: (message: string, error: unknown, more?: object) => void;
}

/** What a model is asked, and which tools its reply may call. */
export interface ModelCall {
  model: LanguageModelV4;
  /** The name under which its usage is counted. */
  name: string;
  /** What its tokens cost. */
  pricing: Pricing | undefined;
  options: Omit<LanguageModelV4CallOptions, 'abortSignal'>;
  tools: readonly ToolDefinition[];
  instructions: Instructions;
  rows: readonly Row[];
  /** How the prompt is kept, since the model has refused more. */
  eased: Eased | undefined;
  /** The same call, once the model has refused more still. */
  withEased: (eased: Eased) => ModelCall;
}

/** The summaries that an attempt at a step uses. */
export interface Compactions {
  /** @param rowOf the row that each message of the prompt begins with */
  record: (rowOf: readonly number[], prices: { pricing: Pricing | undefined }) => CompactionRecord;
  /** The one that this step has made, for its row. */
  made: () => Compaction | undefined;
  /** What summaries of this attempt have taken; the record has it. */
  usage: () => RunUsage | undefined;
}

/** A request whose time was measured, and whose usage the record has. */
export interface TimedCall {
  provider: string;
  model: string;
  /** ms since the epoch. */
  beganAt: number;
  ms: number;
  /** Until the first part of the reply. */
  firstMs: number | undefined;
  /** How the provider failed. */
  code: string | undefined;
  usage: RunUsage | undefined;
}

/** Gets the events of one request to a model. */
export interface RequestListener {
  /** The model is asked now. */
  asked?: (call: ModelCall) => void;
  /** Each part of the reply before it is written; of the deltas the first only. */
  part?: (part: LanguageModelV4StreamPart) => void;
  /** The record has what the request used. */
  recorded?: (usage: RunUsage | undefined) => void;
  timed?: (call: TimedCall) => void;
}

/** One request of a step to one of its models; middleware completes it on its way in. */
export interface ModelRequest {
  step: ClaimedStep;
  /** The step's, or one that takes nothing but the result. */
  ref: StepRef;
  turn: Fallback;
  choice: ModelChoice;
  /** No other model stands in for this one. */
  isLast: boolean;
  /** What the run has used before. */
  used: RunUsage | undefined;
  reply: StepReply;
  /** The model has begun to reply. */
  isReplying: boolean;
  listeners: RequestListener[];
  /** What the model is asked, once that is known. */
  call?: ModelCall;
  compactions?: Compactions;
  /** What the provider reported of its reply. */
  answered?: () => Answered | undefined;
  /** Ends the request at once. */
  signal: AbortSignal;
  /** The model says something. */
  heard?: () => void;
  /** The model cannot speak during other waits: they do not count as its silence. */
  during?: (wait: Promise<unknown>) => Promise<void>;
  /** Stores files that are too large for the stream. */
  keepFile?: (part: LanguageModelV4StreamPart) => Promise<KeptFile | undefined>;
  /** Gives calls ids that are unique in the conversation, where the reply alone cannot. */
  takeCallId?: ((wanted: string) => Promise<string>) | undefined;
  /** Informs tools of the inputs of their calls, once the reply has taken the part. */
  noteInput?: ((part: LanguageModelV4StreamPart) => Promise<void>) | undefined;
}

/** What came of a step's last request. */
export interface Answer {
  request: ModelRequest;
  failure?: ProviderFailure | undefined;
  /** The model was not asked: the agent's own conditions end the run. */
  isOver?: true;
}

export type Ask = (request: ModelRequest) => Promise<Answer>;

/**
 * One concern of the requests of a step. It is called once for each attempt at the step, so that it can keep what
 * it knows between the requests; what it returns stands around each of them.
 */
export type StepMiddleware = (
  step: ClaimedStep,
) => (request: ModelRequest, next: Ask) => Promise<Answer>;

/** Fires when the agent's own code, which a request waits for, takes as long as a silent model may. */
export function untilStalled({
  attempt,
  agent,
}: Pick<ClaimedStep, 'attempt' | 'agent'>): AbortSignal {
  const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
  return endsWithin(stallTimeoutMs, attempt.signal);
}

/** The middleware around a request to the model, the first outermost. */
export function askThrough(
  middleware: readonly StepMiddleware[],
  step: ClaimedStep,
  ask: Ask,
): Ask {
  return middleware.reduceRight<Ask>((next, each) => {
    const around = each(step);
    return (request) => around(request, next);
  }, ask);
}
