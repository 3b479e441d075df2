export { createHelixSendAutomaticallyWhen } from '../client/send-automatically.js';
export type { SendAutomaticallyWhen } from '../client/send-automatically.js';
export type { ClientCall, FailedCall, LeaseClientCall } from '../client/lease-call.js';
export { createHelixChatHook } from './create-helix-chat-hook.js';
export type {
  UseHelixChat,
  UseHelixChatHelpers,
  UseHelixChatOptions,
} from './create-helix-chat-hook.js';
export { useStreamData } from './use-stream-resync.js';
export type { StreamData, StreamDataPart, StreamResyncEvent } from './use-stream-resync.js';
export type {
  ChatWithTools,
  ToolHandler,
  ToolHandlerContext,
  ToolHandlers,
} from './client-tools.js';
export { useHelixChat } from './use-helix-chat.js';
export { useAutoResync, useCheckpointSnapshot, useResumableChat } from './use-resumable-chat.js';
export type {
  AutoResync,
  UseAutoResyncOptions,
  UseResumableChatOptions,
} from './use-resumable-chat.js';
export type { RefreshOptions } from './use-refresh.js';
export { useResumeClientTools } from './client-tools.js';
export type { UseResumeClientToolsOptions } from './client-tools.js';
export { useSessionEvents } from './use-session-events.js';
export type { SessionEvents, UseSessionEventsOptions } from './use-session-events.js';
export { useHelixSendAutomaticallyWhen } from './create-helix-chat-hook.js';
export type { LoadedSnapshot, SnapshotSource } from './use-resumable-chat.js';
export { useResyncState, useStreamResync } from './use-stream-resync.js';
export type { ResyncState } from './use-stream-resync.js';
