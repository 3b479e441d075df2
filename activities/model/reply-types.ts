import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, StreamChunk, Usage } from '../../protocol/chunk.js';
import type { ErrorCode } from '../../protocol/errors.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import type { ReplyFold } from '../../protocol/reply-fold.js';
import { toTokenCount } from '../../protocol/usage.js';

/** A stored file, or the reason that it was not stored. */
export type KeptFile = { url: string } | { error: string; code: ErrorCode };

/** A call from the provider, before its input is checked. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
  /** Set if its chunks name it as a call that pages execute. */
  byClient?: true;
}

/** Takes the stream parts of one model reply and returns the chunks to write. */
export interface StepReply {
  /** Names a call through `take` before the call is accepted. */
  nameCall: (providerId: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  /** @param kept result of storing a file that is too large for the stream */
  accept: (part: LanguageModelV4StreamPart, kept?: KeptFile) => StreamChunk[];
  /** Returns the session's id of a call that the reply has begun, by the provider's id. */
  knownId: (providerId: string) => string | undefined;
  fold: ReplyFold;
  calls: ProposedCall[];
  /** Calls whose chunks wait until the step is stored. */
  deferredCalls: ReadonlySet<string>;
  /** True once the reply has shown something. */
  begun: () => boolean;
  /** Present once the provider has sent its finish part. */
  finish: () => ReplyFinish | undefined;
}

export interface ChunkBase {
  agentId: string;
  agentType: string;
  step: number;
}

/** A provider's finish report. */
export interface ReplyFinish {
  reason: FinishReason;
  usage: Usage;
}

/** Converts a provider's finish part. Pure. */
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

/** Returns a provider's value, or undefined if it is no JSON or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined || findJsonFault(value) !== undefined) return undefined;
  return value;
}
