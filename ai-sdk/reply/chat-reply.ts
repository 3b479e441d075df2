import type { BusyPolicy } from '../../protocol/busy.js';
import type { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';

/** What is read of a web `Request`. */
export type IncomingRequest = Pick<Request, 'method' | 'headers'> &
  Partial<Pick<Request, 'signal'>>;

export interface HandleChatStreamParams {
  sessionId: string;
  /** As the client posted them; only the tail is looked at. Empty when there is nothing to say. */
  messages: readonly PostedMessage[];
  /**
   * Who asks: the owner of a conversation that begins, and of others only their owner is answered. Pass
   * it on GET as on POST, or a reconnect is told that there is nothing (204).
   */
  userId?: string | undefined;
  tenantId?: string | undefined;
  /** For user messages that bring no metadata of their own. */
  metadata?: Record<string, string> | undefined;
  /** Its headers tell where to resume and what the client can read; GET reads, anything else posts. */
  request?: IncomingRequest | undefined;
  /** Wins over the headers. */
  resumeFromSequence?: number | undefined;
  /** Taken for compatibility. Continuations use the turn's stored id, which is what a client has. */
  existingMessageId?: string | undefined;
  trigger?: string | undefined;
  messageId?: string | undefined;
  /** What becomes of the messages while a run is at work. */
  busy?: BusyPolicy | undefined;
  /** The agent to talk to; binding on first contact. */
  agent?: string | undefined;
  /**
   * Start sequence of the turn that this viewer's snapshot showed at work, null if it showed none;
   * when absent, what the session remembers of anybody's snapshots.
   */
  sawActiveSince?: number | null | undefined;
}

/** How a request is answered, before any transport. `runId` is the session's newest run. */
export type ChatReply = { runId?: string } & (
  | { kind: 'nothing' }
  | { kind: 'refused'; error: HelixError }
  | {
      kind: 'stream';
      /** SSE text; ends early when the signal fires, throws when it cannot be completed. */
      frames: (signal: AbortSignal) => AsyncIterable<string>;
    }
);
