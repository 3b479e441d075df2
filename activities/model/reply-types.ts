import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { StreamChunk } from '../../protocol/chunk.js';
import type { ErrorCode } from '../../protocol/errors.js';
import type { ReplyFold } from '../../protocol/reply-fold.js';
import type { ReplyFinish } from './reply-finish.js';

/** A file that was stored, or why it was not. */
export type KeptFile = { url: string } | { error: string; code: ErrorCode };

/** A call as the provider made it, before its input is checked. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
  /** Its chunks name it as a call that pages carry out. */
  byClient?: true;
}

/** The reply of one model call: takes the provider's stream parts, returns the chunks to write. */
export interface StepReply {
  /** Settles a call's id by other means than those of the reply alone, before the call is taken. */
  nameCall: (providerId: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  /** @param kept what became of a file that is too large for the stream */
  accept: (part: LanguageModelV4StreamPart, kept?: KeptFile) => StreamChunk[];
  /** The id in the conversation of a call that the reply has begun, by the provider's. */
  knownId: (providerId: string) => string | undefined;
  fold: ReplyFold;
  calls: ProposedCall[];
  /** Calls that viewers have not been shown. */
  deferredCalls: ReadonlySet<string>;
  /** True once there was something to show. */
  begun: () => boolean;
  /** Present once the provider has sent its finish part. */
  finish: () => ReplyFinish | undefined;
}

export interface ChunkBase {
  agentId: string;
  agentType: string;
  step: number;
}
