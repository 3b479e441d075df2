/** The core of helix-temporal: agents, tools, and the contract that every side of the wire shares. */
export {
  AgentNotFoundError,
  AgentRegistry,
  createRuleModel,
  createSubAgentTool,
  defaultAgentRegistry,
  DEFAULT_MAX_STEPS,
  defineTool,
  DefinitionError,
  fromAgent,
  fromAiSdkTool,
  isSubAgentTool,
  modelFromSpec,
  modelsFromSpec,
  ModelConfigurationError,
  resolveMaxSteps,
  resolveModel,
  StateError,
  SUBAGENT_TOOL_PREFIX,
  ToolError,
  toolContextOf,
} from './agents/index.js';
export type {
  AgentDefinition,
  AgentFactory,
  AgentScope,
  AgentSettings,
  AgentTools,
  AiSdkAgent,
  AiSdkTool,
  ApprovalRequest,
  ApprovalRule,
  ApprovalVerdict,
  ApproverRule,
  ApproverVerdict,
  CallOptions,
  CallOptionsScope,
  CompactedMessages,
  CompactionRecord,
  DurableSettings,
  FailedCompaction,
  FinishEvent,
  HookPlace,
  InferAgentTools,
  Instructions,
  AgentModel,
  LlmConfig,
  LlmSettings,
  ModelChoice,
  LostCall,
  MadeCompaction,
  ModelEnvironment,
  ModelToolCall,
  OnFinish,
  OnStepFinish,
  PreparedStep,
  AgentPage,
  PrepareStep,
  PrepareStepOptions,
  Pricing,
  RepairToolCall,
  RetryPolicy,
  RuleReply,
  RuleResult,
  RuleTurn,
  SamplingSettings,
  SpendCap,
  StepFinishEvent,
  StepRecord,
  StopCondition,
  StopWhen,
  SubAgent,
  SubAgentToolConfig,
  Principal,
  ToolCallIdentity,
  ToolChoice,
  ToolConfig,
  ToolContext,
  ToolDefinition,
  SourcedTool,
  ToolHost,
  ToolSource,
  ToModelOutput,
  Verification,
} from './agents/index.js';

export { defineAgent, type AgentConfig } from './extensions/agents.js';
export { compaction } from './extensions/compaction/index.js';
export type { CompactionSettings, Summary, ToSummarize } from './extensions/compaction/index.js';
export { activityTool, nexusTool } from './extensions/temporal-tools/index.js';

// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from './protocol/index.js';

export { isStalled } from './runs/record/newest-run.js';
export { resolveCheckpointStreamSequence } from './store/log/stream-manager.js';
export type { AgentResult, RunOutcome } from './runs/run-result.js';
export type {
  CreateWriterOptions,
  ReaderOptions,
  ReaderState,
  ResumableReaderOptions,
  ResumableStreamReader,
  StoredChunk,
  StreamInfo,
  StreamManager,
  StreamReader,
  StreamWriter,
} from './store/log/stream-manager.js';
export type { CallSpec, CallState, NewCall, OpenCall } from './store/contract/call-record.js';
export type {
  PendingCall,
  SettleCallInput,
  SettleCallResult,
  StartCallInput,
  StartCallResult,
  SuspensionContext,
} from './store/contract/calls.js';
export type { Checkpoint, CheckpointPage } from './store/contract/documents.js';
export type {
  CustomState,
  CustomState as AgentState,
  VersionedState,
} from './store/contract/documents.js';
export type { MessagePage, SessionState } from './store/contract/documents.js';
export type { HelixStateStore } from './store/record/helix-state-store.js';
export type {
  AppendResult,
  LogPosition,
  MarkResult,
  OpenWriterResult,
  StreamLog,
  StreamMark,
  TruncateOptions,
  TruncateResult,
  Writer,
} from './store/contract/log.js';
export type { QueuedEntry } from './store/contract/queue.js';
export type {
  BeginInput,
  BeginResult,
  EndInput,
  EndResult,
  InterruptRecord,
  RunInfo,
  RunRecord,
  RunUsage,
  StopResult,
  UserMessage,
} from './store/contract/runs.js';
export type { SessionCalls, SessionRecord, SessionView } from './store/contract/sessions.js';
export type { PromotedState, StagedChanges } from './store/contract/documents.js';
export type {
  ClaimInput,
  ClaimResult,
  CommitInput,
  CommitResult,
  DiscardInput,
  DiscardResult,
} from './store/contract/steps.js';
export type { Store } from './store/contract/store.js';
export type { SessionOwner, WaitingPage, WaitingSession } from './store/contract/waiting.js';
