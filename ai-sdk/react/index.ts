export { createHelixSendAutomaticallyWhen } from '../client/send-automatically.js';
export type { SendAutomaticallyWhen } from '../client/send-automatically.js';
export type { ClientCall, FailedCall, LeaseClientCall } from '../client/lease-call.js';
export { useResumeClientTools } from './client-tools.js';
export type {
  ChatWithTools,
  ToolHandler,
  ToolHandlerContext,
  ToolHandlers,
  UseResumeClientToolsOptions,
} from './client-tools.js';
export {
  createHelixChatHook,
  useHelixChat,
  useHelixSendAutomaticallyWhen,
} from './use-helix-chat.js';
export type { UseHelixChat, UseHelixChatHelpers, UseHelixChatOptions } from './use-helix-chat.js';
export type { RefreshOptions } from './use-recovery.js';
export {
  useAutoResync,
  useCheckpointSnapshot,
  useResumableChat,
  useResyncState,
  useStreamData,
  useStreamResync,
  type AutoResync,
  type LoadedSnapshot,
  type ResyncState,
  type SnapshotSource,
  type StreamData,
  type StreamDataPart,
  type StreamResyncEvent,
  type UseAutoResyncOptions,
  type UseResumableChatOptions,
} from './use-resumable-chat.js';
export { useSessionEvents } from './use-session-events.js';
export type { SessionEvents, UseSessionEventsOptions } from './use-session-events.js';
