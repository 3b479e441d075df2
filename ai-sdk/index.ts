export { COMMON_METADATA_KEYS, ANONYMOUS } from '../protocol/ids.js';
export { findExpiredPending } from '../protocol/answers.js';
export { isForgedRequest } from '../protocol/http.js';
export type { ConvertOptions } from './parts/convert-messages.js';
export {
  ConfigurationError,
  ExecutionError,
  FrontendHandlerError,
  HelixStreamError,
  StreamBrokenError,
  StreamCreationError,
  StreamFailedError,
  StreamNotFoundError,
  ValidationError,
} from './parts/errors.js';
export type { FrontendErrorCode, FrontendStatusCode, StreamErrorEvent } from './parts/errors.js';
export {
  convertToAISDKMessages,
  convertToAISDKMessages as convertToUIMessages,
} from './parts/convert-messages.js';
export type { HelixMessage } from '../protocol/rows.js';
export {
  AI_SDK_UI_HEADER,
  AI_SDK_UI_HEADER_VALUE,
  buildSSEResponse,
  createSSEHeaders,
  createSSEStream,
  formatSse,
  KEEP_ALIVE_MS,
  SSE_KEEP_ALIVE,
  toLastFrames,
  UI_MESSAGE_STREAM_HEADERS,
  UNCOMPRESSED,
} from './parts/sse.js';
export type { SSEEvent, SSEResponseOptions, SSEStreamOptions } from './parts/sse.js';
export { toStaticMessages, toToolParts } from './parts/static-parts.js';
export type { StaticToolPart, StaticUIMessage, ToolParts } from './parts/static-parts.js';
export { StreamTransformer } from './parts/stream-transformer.js';
export type { StreamTransformerOptions, Transformed } from './parts/stream-transformer.js';
export type {
  FrontendSnapshot,
  UIApproval,
  UIMessage,
  UIMessagePart,
  UIToolPart,
} from './parts/ui-message.js';
export type { StreamProfile, UIStreamPart } from './parts/ui-stream-part.js';
export { readSubAgentReport } from './turns/sub-agent-report.js';
export {
  createUIMessageStore,
  getUIMessages,
  loadAllUIMessages,
  loadUIMessages,
  type LoadAllUIMessagesOptions,
  type LoadUIMessagesOptions,
  type UIMessagePage,
  type UIMessageStore,
} from './reply/load-messages.js';
export {
  findSession,
  isAddressable,
  isOwner,
  readOwned,
  requireAddressable,
  toCaller,
  toStoredSessionId,
} from './reply/access.js';
export type { AddressedAgents, Caller, FoundSession } from './reply/access.js';
export {
  authorizeByRole,
  decides,
  explainWithheld,
  judged,
  mayDecide,
  requireAllowed,
  toAnswerOptions,
  toViewer,
} from './reply/authority.js';
export type { Action, Authorize, Subject } from './reply/authority.js';
export { readStateAt } from './turns/partial-turn.js';
export { toBroken } from './turns/turn-frames.js';
export { toJudged, type Viewer } from './turns/turn-progress.js';
export { extractResumePosition } from './reply/attach-turn.js';
export { buildPastSnapshot, buildSnapshot } from './reply/build-snapshot.js';
export { toPendingQuestions } from '../store/record/session-summaries.js';
export type { PastSnapshotParams, SnapshotDeps, SnapshotParams } from './reply/build-snapshot.js';
export { decideReply } from './reply/decide-reply.js';
export { handleChatStream, toProblem, toReplyHeaders } from './reply/handle-chat-stream.js';
export { createFrontendHandler } from './reply/frontend-handler.js';
export type {
  FrontendHandler,
  FrontendHandlerDeps,
  FrontendRequest,
  FrontendResponse,
} from './reply/frontend-handler.js';
export { editQueuedMessage, toQueue } from './reply/queue.js';
export { notFound, nothingToDo, notQueued } from './reply/refusals.js';
export { extractResumeIntent } from './reply/resume-intent.js';
export type {
  RejectedIntent,
  ResumableState,
  ResumeIntent,
  ResumeIntents,
} from './reply/resume-intent.js';
export type {
  ChatDeps,
  ChatReply,
  HandleChatStreamDeps,
  HandleChatStreamParams,
  IncomingRequest,
  StreamedReply,
} from './reply/types.js';
export { requireFiles, toUserMessages } from './reply/user-messages.js';
export {
  createHelixChatTransport,
  type HelixChatTransportOptions,
} from './client/helix-chat-transport.js';
export {
  createHelixSendAutomaticallyWhen,
  type SendAutomaticallyWhen,
} from './client/send-automatically.js';
