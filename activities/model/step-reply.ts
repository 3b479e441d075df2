import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ChunkOf, FinishReason, StreamChunk, Usage } from '../../protocol/chunk.js';
import { createReplyFold, type ReplyFold } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { createCallIds } from './call-ids.js';

/** A call as the provider made it, before anybody looked at its input. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
}

export interface ReplyFinish {
  reason: FinishReason;
  usage: Usage;
}

/** What one model call says: takes the provider's stream parts, gives the chunks to write. */
export interface StepReply {
  accept: (part: LanguageModelV4StreamPart) => StreamChunk[];
  fold: ReplyFold;
  calls: ProposedCall[];
  /** Present once the provider has said that it is done. */
  finish: () => ReplyFinish | undefined;
}

export interface ChunkBase {
  agentId: string;
  agentType: string;
  step: number;
}

/** Pure but for the clock that stamps chunks. */
export function createStepReply(
  base: ChunkBase,
  usedCallIds: ReadonlySet<string>,
  now: () => number,
): StepReply {
  const fold = createReplyFold();
  const calls: ProposedCall[] = [];
  const ids = createCallIds(usedCallIds);
  let finish: ReplyFinish | undefined;
  let begun = false;

  type Fields<T extends StreamChunk['type']> = Omit<ChunkOf<T>, keyof ChunkBase | 'timestamp'>;
  const chunk = <T extends StreamChunk['type']>(fields: Fields<T>): StreamChunk =>
    ({ ...fields, ...base, timestamp: now() }) as unknown as StreamChunk;

  /** The step shows itself with its first output, so that a try that gave nothing leaves no trace. */
  function emit(...chunks: StreamChunk[]): StreamChunk[] {
    for (const each of chunks) fold.accept(each);
    if (begun) return chunks;
    begun = true;
    return [
      chunk<'step_start'>({ type: 'step_start', stepId: `s${String(base.step)}` }),
      ...chunks,
    ];
  }

  function keepMetadata(type: AssistantPart['type'], metadata: unknown): void {
    const part = fold.parts.at(-1);
    if (metadata !== undefined && part?.type === type) {
      part.providerMetadata = metadata as NonNullable<AssistantPart['providerMetadata']>;
    }
  }

  function accept(part: LanguageModelV4StreamPart): StreamChunk[] {
    switch (part.type) {
      case 'text-delta': {
        if (part.delta === '') return [];
        return emit(chunk<'text_delta'>({ type: 'text_delta', delta: part.delta }));
      }
      case 'text-end':
        keepMetadata('text', part.providerMetadata);
        return [];
      case 'reasoning-delta': {
        if (part.delta === '') {
          keepMetadata('reasoning', part.providerMetadata);
          return [];
        }
        const chunks = emit(
          chunk<'thinking'>({ type: 'thinking', content: part.delta, isComplete: false }),
        );
        keepMetadata('reasoning', part.providerMetadata);
        return chunks;
      }
      case 'reasoning-end': {
        if (fold.parts.at(-1)?.type !== 'reasoning') return [];
        keepMetadata('reasoning', part.providerMetadata);
        return emit(chunk<'thinking'>({ type: 'thinking', content: '', isComplete: true }));
      }
      case 'tool-input-start': {
        if (part.providerExecuted === true) return [];
        const toolCallId = ids.toSessionId(part.id);
        return emit(
          chunk<'tool_arg_stream_start'>({
            type: 'tool_arg_stream_start',
            toolCallId,
            toolName: part.toolName,
          }),
        );
      }
      case 'tool-input-delta': {
        const toolCallId = ids.toSessionId(part.id);
        if (part.delta === '' || !fold.argumentText.has(toolCallId)) return [];
        return emit(
          chunk<'tool_arg_stream_delta'>({
            type: 'tool_arg_stream_delta',
            toolCallId,
            delta: part.delta,
          }),
        );
      }
      case 'tool-call': {
        if (part.providerExecuted === true) return [];
        const toolCallId = ids.toSessionId(part.toolCallId);
        calls.push({ toolCallId, toolName: part.toolName, input: part.input });
        if (fold.argumentText.has(toolCallId)) return [];
        return emit(
          chunk<'tool_arg_stream_start'>({
            type: 'tool_arg_stream_start',
            toolCallId,
            toolName: part.toolName,
          }),
        );
      }
      case 'finish':
        finish = { reason: toFinishReason(part.finishReason.unified), usage: toUsage(part.usage) };
        return [];
      default:
        return [];
    }
  }

  return { accept, fold, calls, finish: () => finish };
}

function toFinishReason(reason: string): FinishReason {
  const known: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error'];
  return known.includes(reason) ? (reason as FinishReason) : 'other';
}

function toUsage(usage: LanguageModelV4Usage): Usage {
  return {
    inputTokens: usage.inputTokens.total ?? 0,
    outputTokens: usage.outputTokens.total ?? 0,
    ...(usage.inputTokens.cacheRead !== undefined && { cachedTokens: usage.inputTokens.cacheRead }),
    ...(usage.inputTokens.cacheWrite !== undefined && {
      cacheWriteTokens: usage.inputTokens.cacheWrite,
    }),
  };
}
