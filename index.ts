/** The core of helix-temporal: agents, tools, and the contract that every side of the wire shares. */
export {
  AgentNotFoundError,
  AgentRegistry,
  defineAgent,
  DEFAULT_MAX_STEPS,
  defineTool,
  DefinitionError,
  modelFromSpec,
  resolveMaxSteps,
  resolveModel,
} from './agents/index.js';
export type {
  AgentConfig,
  AgentDefinition,
  LlmConfig,
  ToolCallIdentity,
  ToolConfig,
  ToolContext,
  ToolDefinition,
} from './agents/index.js';
export { isStreamEnd, StreamChunkSchema, StreamMessageSchema } from './protocol/chunk.js';
export type { LogEntry, StreamChunk, StreamEnd, StreamMessage } from './protocol/chunk.js';
export { HelixError } from './protocol/errors.js';
export type { ErrorCode } from './protocol/errors.js';
export type { FrontendSnapshot } from './protocol/http.js';
export { LIMITS } from './protocol/limits.js';
export type { AssistantRow, Row, ToolRow, UserRow } from './protocol/rows.js';
export type { RunError, RunStatus, StreamStatus } from './protocol/run.js';
export type { SessionStore } from './stores/session-store.js';
export type { StreamManager } from './stores/stream-manager.js';
