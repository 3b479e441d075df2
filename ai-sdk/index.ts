export { buildPastSnapshot } from './build-past-snapshot.js';
export type { PastSnapshotParams } from './build-past-snapshot.js';
export { buildSnapshot } from './build-snapshot.js';
export type { FrontendSnapshot, SnapshotDeps, SnapshotParams } from './build-snapshot.js';
export { isAddressable, requireAddressable } from './chat-deps.js';
export type { AddressedAgents, ChatDeps, HandleChatStreamDeps } from './chat-deps.js';
export type { ChatReply, HandleChatStreamParams, IncomingRequest } from './chat-reply.js';
export { convertToUIMessages } from './convert-messages.js';
export { convertToAISDKMessages } from './helix-messages.js';
export type { HelixMessage } from './helix-messages.js';
export type { ConvertOptions } from './convert-messages.js';
export { decideReply } from './decide-reply.js';
export { extractResumeIntent } from './extract-resume-intent.js';
export type {
  RejectedIntent,
  ResumableState,
  ResumeIntent,
  ResumeIntents,
} from './extract-resume-intent.js';
export {
  ConfigurationError,
  ExecutionError,
  FrontendHandlerError,
  StreamCreationError,
  StreamFailedError,
  StreamNotFoundError,
  ValidationError,
} from './frontend-errors.js';
export type { FrontendErrorCode } from './frontend-errors.js';
export { HelixStreamError } from './stream-error.js';
export type { StreamErrorEvent } from './stream-error.js';
export { handleChatStream, toProblem, toReplyHeaders } from './handle-chat-stream.js';
export { ANONYMOUS } from '../protocol/ids.js';
export { isOwner } from './ownership.js';
export { findSession, readOwned, toStoredSessionId } from './session-address.js';
export type { FoundSession } from './session-address.js';
export { notFound } from './refusals.js';
export type { Caller } from './ownership.js';
export { findExpiredPending } from '../protocol/expired-pending.js';
export { toPendingQuestions } from './pending-questions.js';
export { editQueuedMessage, notQueued, toQueue } from './queue.js';
export { extractResumePosition } from './resume-position.js';
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
} from './sse.js';
export type { SSEEvent, SSEResponseOptions, SSEStreamOptions } from './sse.js';
export { StreamTransformer } from './stream-transformer.js';
export type { StreamTransformerOptions, Transformed } from './stream-transformer.js';
export { StreamBrokenError } from './stream-broken-error.js';
export {
  createUIMessageStore,
  getUIMessages,
  loadAllUIMessages,
  loadUIMessages,
} from './ui-history.js';
export type {
  LoadAllUIMessagesOptions,
  LoadUIMessagesOptions,
  UIMessagePage,
  UIMessageStore,
} from './ui-history.js';
export type { UIApproval, UIMessage, UIMessagePart, UIToolPart } from './ui-message.js';
export type { StreamProfile, UIStreamPart } from './ui-stream-part.js';
export { COMMON_METADATA_KEYS } from '../protocol/metadata-keys.js';
export { toUserMessages } from './user-messages.js';
export { createHelixChatTransport } from './client/helix-chat-transport.js';
export type { HelixChatTransportOptions } from './client/helix-chat-transport.js';
export { createHelixSendAutomaticallyWhen } from './client/send-automatically.js';
export type { SendAutomaticallyWhen } from './client/send-automatically.js';
