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
  | {
      type: 'tool-input-available';
      toolCallId: string;
      toolName: string;
      input: unknown;
      dynamic?: true;
      providerExecuted?: true;
    }
  | {
      type: 'tool-input-error';
      toolCallId: string;
      toolName: string;
      input: unknown;
      errorText: string;
      dynamic?: true;
      providerExecuted?: true;
    }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | {
      type: 'tool-output-available';
      toolCallId: string;
      output: unknown;
      dynamic?: true;
      providerExecuted?: true;
      /** True while the call is still being executed. */
      preliminary?: true;
    }
  | {
      type: 'tool-output-error';
      toolCallId: string;
      errorText: string;
      dynamic?: true;
      providerExecuted?: true;
    }
  | { type: 'tool-output-denied'; toolCallId: string }
  | UISourcePart
  | ({ type: 'file'; url: string; mediaType: string } & OfProvider)
  | { type: `data-${string}`; data: unknown; transient?: true }
  | NewerStreamPart;

/** Parts that only newer v7 clients know; sent to clients that declare that they do. */
export type NewerStreamPart =
  | { type: 'reset-step' }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string };

/** The set of parts that a client can read; `common` suits every 6.x and 7.x client. */
export type StreamProfile = 'common' | 'v7';

/** Reads the profile that a request asks for. */
export function toStreamProfile(header: string | null | undefined): StreamProfile {
  return header?.trim().toLowerCase() === 'v7' ? 'v7' : 'common';
}
