import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, StreamChunk, Usage } from '../../protocol/chunk.js';
import type { ErrorCode } from '../../protocol/errors.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import type { ReplyFold } from '../../protocol/reply-fold.js';
import { toTokenCount } from '../../protocol/usage.js';

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

/** How a provider says that it is done. */
export interface ReplyFinish {
  reason: FinishReason;
  usage: Usage;
}

/** A provider's word for its end → ours. Pure. */
export function toReplyFinish({
  finishReason,
  usage,
}: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ReplyFinish {
  return { reason: toFinishReason(finishReason.unified), usage: toUsage(usage) };
}

function toFinishReason(reason: string): FinishReason {
  const known: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error'];
  return known.includes(reason) ? (reason as FinishReason) : 'other';
}

function toUsage({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: toTokenCount(input.total) ?? 0,
    outputTokens: toTokenCount(output.total) ?? 0,
    ...ifKnown('cachedTokens', input.cacheRead),
    ...ifKnown('cacheWriteTokens', input.cacheWrite),
    ...ifKnown('reasoningTokens', output.reasoning),
  };
}

function ifKnown(field: keyof Usage, tokens: number | undefined): Partial<Usage> {
  const count = toTokenCount(tokens);
  return count === undefined ? {} : { [field]: count };
}

/** A provider's value, if it can be stored: undefined if it is not JSON, or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined || findJsonFault(value) !== undefined) return undefined;
  return value;
}
