import type { FinishReason } from '../../protocol/chunk.js';
import type { OfProvider, UISourcePart } from './ui-message.js';

/**
 * The parts of the AI SDK's UI message stream that this project emits, with exactly the keys that
 * ai 6.0.0 accepts: older clients refuse a whole response for one unknown key or type.
 */
export type UIStreamPart =
  | { type: 'start'; messageId: string }
  | { type: 'finish'; finishReason: FinishReason }
  | { type: 'start-step' | 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'message-metadata'; messageMetadata: Record<string, unknown> | null }
  | ({
      type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      id: string;
    } & OfProvider)
  | ({ type: 'text-delta' | 'reasoning-delta'; id: string; delta: string } & OfProvider)
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic?: true }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | ({ type: 'tool-input-available'; toolName: string; input: unknown } & OfCall & OfProvider)
  | ({ type: 'tool-input-error'; toolName: string; input: unknown; errorText: string } & OfCall)
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  /** `preliminary`: the call is still being executed. */
  | ({ type: 'tool-output-available'; output: unknown; preliminary?: true } & OfCall)
  | ({ type: 'tool-output-error'; errorText: string } & OfCall)
  | { type: 'tool-output-denied'; toolCallId: string }
  | UISourcePart
  | ({ type: 'file'; url: string; mediaType: string } & OfProvider)
  | { type: `data-${string}`; data: unknown; transient?: true }
  | NewerStreamPart;

interface OfCall {
  toolCallId: string;
  dynamic?: true;
  providerExecuted?: true;
}

/** Parts that only newer v7 clients know; sent to clients that declare that they do. */
export type NewerStreamPart =
  | { type: 'reset-step' }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string };

/** The set of parts that a client can read; `common` suits every 6.x and 7.x client. */
export type StreamProfile = 'common' | 'v7';

export function toStreamProfile(header: string | null | undefined): StreamProfile {
  return header?.trim().toLowerCase() === 'v7' ? 'v7' : 'common';
}
