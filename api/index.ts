export { createApi, type ApiOptions } from './create-api.js';
export { defineRoute, type Route } from './routes/route.js';
export type { ApiExtension } from './extension.js';
export { requireRole } from './operator-access.js';
export type { ApiDeps, ApiSettings, ReadinessChecks } from './deps.js';
export type { FileSettings } from './file-settings.js';
export type { CrossOriginOptions } from './middleware/guards.js';
export type { ApiLimits } from './middleware/limits.js';
export type { Authenticate, Identity, IdentityOptions } from './identity.js';
export { authorizeByRole } from '../ai-sdk/index.js';
export type { Action, Authorize, Subject } from '../ai-sdk/index.js';
export { createMetricsApp } from './create-metrics-app.js';
export type { ApiMetrics, StreamMeter } from './metrics.js';
export { pipeToExpress, type PipeOptions } from './pipe-to-express.js';
export type { ApiLogger } from './middleware/refusals.js';

export {
  ResumeAgentBody,
  StartAgentBody,
  StopAgentBody,
  SubmitToolResultBody,
  UserInputMessage,
} from '../protocol/agent-server.js';
export type { AgentStarted } from '../protocol/agent-server.js';
export {
  AnswerBody,
  BranchBody,
  ChatRequest,
  CheckpointQuery,
  ExtendBody,
  PostedMessage,
  QueueEdit,
  RetryBody,
  StopBody,
  WaitingQuery,
} from '../protocol/http.js';
export { HEADERS } from '../protocol/ids.js';
export type { FrontendSnapshot } from '../ai-sdk/index.js';
export type {
  PendingQuestion,
  ProblemBody,
  QueuedMessages,
  QueueReply,
  SessionPending,
  WaitingSession,
  WaitingSessions,
} from '../protocol/replies.js';
