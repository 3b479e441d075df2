/**
 * The contract of both sides of the wire, without Node modules: everything that pages and other
 * clients need to read chunks, wire events and replies.
 */
export {
  BaseChunkSchema,
  FinishReason,
  isStreamEnd,
  JSONPatchOperation,
  StreamChunkSchema,
  StreamMessageSchema,
  SuspendedChildWaitPayload,
  Usage,
} from './chunk.js';
export type {
  ChunkOf,
  ChunkType,
  ControlMessage,
  LogEntry,
  StreamChunk,
  StreamEnd,
  StreamMessage,
  StreamStatusChange,
  StreamTruncated,
} from './chunk.js';
export { CLIENT_TOOL_ERROR_CODES, type ClientToolErrorCode } from './answers.js';
// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from './chunk-guards.js';
export {
  collectAll,
  collectText,
  combineStreams,
  excludeTypes,
  filterByAgentId,
  filterByAgentType,
  filterByType,
  filterWith,
  skip,
  take,
} from './combine-streams.js';
export {
  StreamChunkEvent,
  StreamEndEvent,
  StreamEvent,
  StreamFailEvent,
  StreamStatusEvent,
  StreamTruncatedEvent,
  toWireEvents,
} from './agent-server.js';
export type { WireEvent } from './agent-server.js';
export { formatWireEvent, parseStreamEvent } from './agent-server.js';
export {
  AgentAlreadyRunningError,
  HelixError,
  MissingPackageError,
  StaleStateError,
  StreamTruncatedError,
} from './errors.js';
export type { ErrorCode } from './errors.js';
export { ApprovalResponse, ClientToolResult, parseToolAnswer } from './answers.js';
export type { ToolAnswer, ToolAnswerInput } from './answers.js';
export { BusyPolicy } from './replies.js';
export type { QueueMode } from './replies.js';
export { findExpiredPending } from './answers.js';
export type { DeadlinesById } from './answers.js';
export type { AgentCard, ToolCard } from './replies.js';
export type {
  FrontendSnapshot,
  PendingQuestion,
  ProblemBody,
  QueuedMessages,
  QueueReply,
  SessionPending,
  WaitingSessions,
} from './replies.js';
export type { ConfigReply } from './replies.js';
export { FINISH_TOOL_NAME, isSessionId, COMMON_METADATA_KEYS } from './ids.js';
export { LIMITS } from './limits.js';
export type { AssistantRow, Decision, Message, Row, ToolRow, UserRow } from './rows.js';
export type { UserInputMessage } from './agent-server.js';
export { isTerminal } from './run.js';
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
  StreamStatus as ResumableStreamStatus,
  TerminalStatus,
} from './run.js';
