import { endsWithin } from '../../protocol/time.js';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { CompactionRecord, Instructions } from '../../agents/step-hooks.js';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { ModelChoice, Pricing } from '../../agents/llm-settings.js';
import type { StepRef } from '../../protocol/temporal.js';
import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Compaction, Eased, Row } from '../../protocol/rows.js';
import type { Writer } from '../../store/contract/log.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { ClaimResult, Fallback } from '../../store/contract/steps.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { ProviderFailure } from './provider-failure.js';
import type { KeptFile, MadeFile, StepReply } from './step-reply.js';

/** Progress of an attempt, as its heartbeats report it. */
export interface StepProgress {
  step: number;
  sequence: number;
  failures: number;
  /** Model of the newest reply; `usage` holds its provider's report. */
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
  /** Values that the schema adds to the stored state: defaults, later those of a newer version. */
  added: JSONPatchOperation[];
}

/** A claimed step with its agent and the conversation for its model. */
export interface ClaimedStep extends StepAttempt {
  agent: AgentDefinition;
  claim: Extract<ClaimResult, { kind: 'claimed' }>;
  rows: readonly Row[];
  /** Undefined for agents without a state. */
  loaded: LoadedState | undefined;
  chunks: ChunkWriter;
  /** Logs an error that does not fail the step. */
  warn: (message: string, error: unknown, more?: object) => void;
}

/** A request to a model, with the tools that its reply may call. */
export interface ModelCall {
  model: LanguageModelV4;
  /** Name under which usage is counted. */
  name: string;
  pricing: Pricing | undefined;
  options: Omit<LanguageModelV4CallOptions, 'abortSignal'>;
  tools: readonly ToolDefinition[];
  instructions: Instructions;
  /** Limits of the prompt after the model refused a larger one. */
  eased: Eased | undefined;
  /** Creates the call again with tighter limits, after a further refusal. */
  withEased: (eased: Eased) => ModelCall;
}

/** Summaries that an attempt at a step uses. */
export interface Compactions {
  /** @param rowOf index of each message's first row */
  record: (rowOf: readonly number[], prices: { pricing: Pricing | undefined }) => CompactionRecord;
  /** Compaction that this step made, for its row. */
  made: () => Compaction | undefined;
  /** Usage of this attempt's summaries; the record has counted it. */
  usage: () => RunUsage | undefined;
}

/** Times of a request, which begin as the model is asked; a retry with a shorter prompt is included. */
export interface RequestTimes {
  /** Set once the model is asked: ms since the epoch, and by the clock of `performance`. */
  began?: { at: number; clockMs: number };
  /** Time until the first part, the first output, the finish part, and the end, ms. */
  firstMs?: number;
  outputMs?: number;
  finishMs?: number;
  ms?: number;
  /** Error code, if the provider failed. */
  code?: string;
}

/** One request of a step to one of its models; each middleware adds its fields. */
export interface ModelRequest {
  step: ClaimedStep;
  /** The step's reference, with `forceFinish` if only the result is wanted. */
  ref: StepRef;
  turn: Fallback;
  choice: ModelChoice;
  /** True if no fallback remains. */
  isLast: boolean;
  /** Usage of the run before this request. */
  used: RunUsage | undefined;
  reply: StepReply;
  /** Functions that are called once the record has the request's usage. */
  recorded: ((usage: RunUsage | undefined) => void)[];
  /** Shared by copies of the request. */
  times: RequestTimes;
  /** Set once the request is prepared. */
  call?: ModelCall;
  /** Summaries that the attempt uses. */
  compactions?: Compactions;
  /** Stores files that are too large for the stream. */
  keepFile?: (part: MadeFile) => Promise<KeptFile | undefined>;
  /** Called with each part of the reply, which waits for it; set by the input hooks. */
  onPart?: ((part: LanguageModelV4StreamPart) => Promise<void>) | undefined;
}

/** Outcome of a step's last request. */
export interface Answer {
  request: ModelRequest;
  failure?: ProviderFailure | undefined;
  /** Set if the agent's own conditions end the run without a request. */
  isOver?: true;
}

export type Ask = (request: ModelRequest) => Promise<Answer>;

/**
 * One concern of a step's requests. It is called once per attempt, so it can keep state between
 * requests; the returned function wraps each of them.
 */
export type StepMiddleware = (
  step: ClaimedStep,
) => (request: ModelRequest, next: Ask) => Promise<Answer>;

/** Returns a signal that fires once the agent's own code exceeds the model's stall time-out. */
export function untilStalled(claimed: Pick<ClaimedStep, 'attempt' | 'agent'>): AbortSignal {
  const { attempt, agent } = claimed;
  const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
  return endsWithin(stallTimeoutMs, attempt.signal);
}
