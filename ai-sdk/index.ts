export { buildPastSnapshot } from './reply/build-past-snapshot.js';
export type { PastSnapshotParams } from './reply/build-past-snapshot.js';
export { buildSnapshot } from './reply/build-snapshot.js';
export type { FrontendSnapshot, SnapshotDeps, SnapshotParams } from './reply/build-snapshot.js';
export { isAddressable, requireAddressable } from './reply/chat-deps.js';
export type { AddressedAgents, ChatDeps, HandleChatStreamDeps } from './reply/chat-deps.js';
export type { ChatReply, HandleChatStreamParams, IncomingRequest } from './reply/chat-reply.js';
export { convertToUIMessages } from './parts/convert-messages.js';
export { convertToAISDKMessages } from './parts/helix-messages.js';
export type { HelixMessage } from './parts/helix-messages.js';
export type { ConvertOptions } from './parts/convert-messages.js';
export { decideReply } from './reply/decide-reply.js';
export { extractResumeIntent } from './reply/extract-resume-intent.js';
export type {
  RejectedIntent,
  ResumableState,
  ResumeIntent,
  ResumeIntents,
} from './reply/extract-resume-intent.js';
export {
  ConfigurationError,
  ExecutionError,
  FrontendHandlerError,
  StreamCreationError,
  StreamFailedError,
  StreamNotFoundError,
  ValidationError,
} from './parts/frontend-errors.js';
export type { FrontendErrorCode } from './parts/frontend-errors.js';
export { HelixStreamError } from './parts/stream-error.js';
export type { StreamErrorEvent } from './parts/stream-error.js';
export { handleChatStream, toProblem, toReplyHeaders } from './reply/handle-chat-stream.js';
export { ANONYMOUS } from '../protocol/ids.js';
export { isOwner } from './reply/ownership.js';
export { findSession, readOwned, toStoredSessionId } from './reply/session-address.js';
export type { FoundSession } from './reply/session-address.js';
export { notFound } from './reply/refusals.js';
export type { Caller } from './reply/ownership.js';
export { findExpiredPending } from '../protocol/expired-pending.js';
export { toPendingQuestions } from './reply/pending-questions.js';
export { editQueuedMessage, notQueued, toQueue } from './reply/queue.js';
export { extractResumePosition } from './reply/resume-position.js';
export {
  AI_SDK_UI_HEADER,
  AI_SDK_UI_HEADER_VALUE,
  buildSSEResponse,
  createSSEHeaders,
  createSSEStream,
  formatSse,
  KEEP_ALIVE_MS,
  SSE_KEEP_ALIVE,
  UI_MESSAGE_STREAM_HEADERS,
} from './parts/sse.js';
export type { SSEEvent, SSEResponseOptions, SSEStreamOptions } from './parts/sse.js';
export { StreamTransformer } from './parts/stream-transformer.js';
export type { StreamTransformerOptions, Transformed } from './parts/stream-transformer.js';
export { StreamBrokenError } from './parts/stream-broken-error.js';
export {
  createUIMessageStore,
  getUIMessages,
  loadAllUIMessages,
  loadUIMessages,
} from './turns/ui-history.js';
export type {
  LoadAllUIMessagesOptions,
  LoadUIMessagesOptions,
  UIMessagePage,
  UIMessageStore,
} from './turns/ui-history.js';
export type { UIApproval, UIMessage, UIMessagePart, UIToolPart } from './parts/ui-message.js';
export type { StreamProfile, UIStreamPart } from './parts/ui-stream-part.js';
export { COMMON_METADATA_KEYS } from '../protocol/metadata-keys.js';
export { toUserMessages } from './reply/user-messages.js';
export { createHelixChatTransport } from './client/helix-chat-transport.js';
export type { HelixChatTransportOptions } from './client/helix-chat-transport.js';
export { createHelixSendAutomaticallyWhen } from './client/send-automatically.js';
export type { SendAutomaticallyWhen } from './client/send-automatically.js';
