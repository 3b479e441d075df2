/** The core of helix-temporal: agents, tools, and the contract that every side of the wire shares. */
export {
  AgentNotFoundError,
  AgentRegistry,
  createRemoteSubAgentTool,
  createSubAgentTool,
  defaultAgentRegistry,
  defineAgent,
  DEFAULT_MAX_STEPS,
  defineTool,
  DefinitionError,
  isSubAgentTool,
  HttpRemoteAgentTransport,
  modelFromSpec,
  ModelConfigurationError,
  RemoteRefusal,
  RemoteSubAgentClientToolUnsupportedError,
  RemoteSubAgentFailedError,
  RemoteSubAgentLostError,
  resolveMaxSteps,
  resolveModel,
  StateError,
  SUBAGENT_TOOL_PREFIX,
  ToolError,
} from './agents/index.js';
export type {
  AgentConfig,
  AgentDefinition,
  AgentFactory,
  AgentScope,
  ApprovalRule,
  ApprovalVerdict,
  HttpRemoteAgentOptions,
  LlmConfig,
  ModelEnvironment,
  PreparedStep,
  PrepareStep,
  PrepareStepOptions,
  Pricing,
  RemoteAgentTransport,
  RemoteStart,
  RemoteSubAgentToolConfig,
  RetryPolicy,
  SpendCap,
  SubAgent,
  SubAgentToolConfig,
  ToolCallIdentity,
  ToolConfig,
  ToolContext,
  ToolDefinition,
} from './agents/index.js';

export {
  FinishReason,
  isStreamEnd,
  JsonPatchOperation,
  StreamChunkSchema,
  StreamMessageSchema,
  SuspendedChildWaitPayload,
  Usage,
} from './protocol/chunk.js';
export type { ChunkOf, ChunkType, LogEntry, StreamChunk, StreamMessage } from './protocol/chunk.js';
export { isControlMessage } from './protocol/control-guard.js';
export type {
  ControlMessage,
  StreamEnd,
  StreamStatusChange,
  StreamTruncated,
} from './protocol/control-message.js';
export {
  isCheckpointCreatedChunk,
  isCustomEventChunk,
  isErrorChunk,
  isExecutorSupersededChunk,
  isFileChunk,
  isOutputChunk,
  isQueueChangedChunk,
  isRunInterruptedChunk,
  isRunPausedChunk,
  isRunResumedChunk,
  isSourceDocumentChunk,
  isSourceUrlChunk,
  isStatePatchChunk,
  isStepCommittedChunk,
  isStepDiscardedChunk,
  isStepEndChunk,
  isStepStartChunk,
  isStreamResyncChunk,
  isSubAgentEndChunk,
  isSubAgentStartChunk,
  isSuspensionMarkerChunk,
  isTextDeltaChunk,
  isThinkingChunk,
  isToolApprovalRequestChunk,
  isToolApprovalResponseChunk,
  isToolArgStreamDeltaChunk,
  isToolArgStreamEndChunk,
  isToolArgStreamStartChunk,
  isToolEndChunk,
  isToolInputErrorChunk,
  isToolOutputErrorChunk,
  isToolStartChunk,
  isTurnStartedChunk,
} from './protocol/chunk-guards.js';
export type {
  CheckpointCreatedChunk,
  CustomEventChunk,
  ErrorChunk,
  ExecutorSupersededChunk,
  FileChunk,
  OutputChunk,
  QueueChangedChunk,
  RunInterruptedChunk,
  RunPausedChunk,
  RunResumedChunk,
  SourceDocumentChunk,
  SourceUrlChunk,
  StatePatchChunk,
  StepCommittedChunk,
  StepDiscardedChunk,
  StepEndChunk,
  StepStartChunk,
  StreamResyncChunk,
  SubAgentEndChunk,
  SubAgentStartChunk,
  SuspensionMarkerChunk,
  TextDeltaChunk,
  ThinkingChunk,
  ToolApprovalRequestChunk,
  ToolApprovalResponseChunk,
  ToolArgStreamDeltaChunk,
  ToolArgStreamEndChunk,
  ToolArgStreamStartChunk,
  ToolEndChunk,
  ToolInputErrorChunk,
  ToolOutputErrorChunk,
  ToolStartChunk,
  TurnStartedChunk,
} from './protocol/chunk-types.js';
export {
  collectAll,
  collectText,
  excludeTypes,
  filterByAgentId,
  filterByAgentType,
  filterByType,
  filterWith,
  skip,
  take,
} from './protocol/chunk-filters.js';
export { combineStreams } from './protocol/combine-streams.js';
export {
  createStreamEndSentinel,
  isStreamEndSentinel,
  STREAM_END_SENTINEL,
} from './protocol/stream-end-sentinel.js';
export type { StreamEndSentinel } from './protocol/stream-end-sentinel.js';
export {
  StreamChunkEvent,
  StreamEndEvent,
  StreamEvent,
  StreamFailEvent,
  StreamStatusEvent,
  StreamTruncatedEvent,
  toWireEvents,
} from './protocol/wire-events.js';
export type { WireEvent } from './protocol/wire-events.js';
export { formatWireEvent, parseStreamEvent } from './protocol/wire-text.js';

export {
  AgentAlreadyRunningError,
  HelixError,
  StaleStateError,
  StreamTruncatedError,
} from './protocol/errors.js';
export type { ErrorCode } from './protocol/errors.js';
export { ApprovalResponse, ClientToolResult, parseToolAnswer } from './protocol/answers.js';
export type { ToolAnswer, ToolAnswerInput } from './protocol/answers.js';
export { BusyPolicy } from './protocol/busy.js';
export type { QueueMode } from './protocol/busy.js';
export { findExpiredPending } from './protocol/expired-pending.js';
export type { DeadlinesById } from './protocol/expired-pending.js';
export type {
  FrontendSnapshot,
  PendingQuestion,
  ProblemBody,
  QueuedMessages,
  QueueReply,
  SessionPending,
  WaitingSessions,
} from './protocol/http.js';
export { FINISH_TOOL_NAME, isSessionId } from './protocol/ids.js';
export { LIMITS } from './protocol/limits.js';
export { COMMON_METADATA_KEYS } from './protocol/metadata-keys.js';
export { isStalled } from './stores/record/stalled.js';
export type { AssistantRow, Decision, Row, ToolRow, UserRow } from './protocol/rows.js';
export { isTerminal } from './protocol/run.js';
export type {
  CallKind,
  OnExpiry,
  RunError,
  RunMode,
  RunStatus,
  Spent,
  StopMode,
  StopRequest,
  StreamStatus,
  TerminalStatus,
} from './protocol/run.js';

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
} from './stores/log/stream-manager.js';
export type { CallSpec, CallState, NewCall, OpenCall } from './stores/contract/call-record.js';
export type {
  PendingCall,
  SettleCallInput,
  SettleCallResult,
  StartCallInput,
  StartCallResult,
  SuspensionContext,
} from './stores/contract/calls.js';
export type { Checkpoint, CheckpointPage } from './stores/contract/checkpoints.js';
export type { CustomState, VersionedState } from './stores/contract/custom-state.js';
export type { MessagePage, SessionState } from './stores/contract/documents.js';
export type { HelixStateStore } from './stores/contract/helix-state-store.js';
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
} from './stores/contract/log.js';
export type { QueuedEntry } from './stores/contract/queue.js';
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
} from './stores/contract/runs.js';
export type { SessionCalls, SessionRecord, SessionView } from './stores/contract/sessions.js';
export type { PromotedState, StagedChanges } from './stores/contract/staging.js';
export type {
  ClaimInput,
  ClaimResult,
  CommitInput,
  CommitResult,
  DiscardInput,
  DiscardResult,
} from './stores/contract/steps.js';
export type { Store } from './stores/contract/store.js';
export type { SessionOwner, WaitingPage, WaitingSession } from './stores/contract/waiting.js';
