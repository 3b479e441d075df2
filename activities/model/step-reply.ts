import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ChunkOf, FinishReason, StreamChunk, Usage } from '../../protocol/chunk.js';
import { createReplyFold, type ReplyFold } from '../../protocol/reply-fold.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { MAX_ATTACHMENT_BYTES, toAttachment, type Attachment } from './attachments.js';
import { createCallIds } from './call-ids.js';

/** A call as the provider made it, before anybody looked at its input. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
}

/** Parts that a provider may say more about, which it wants to be told again. */
type MarkedPart = Extract<AssistantPart, { type: 'text' | 'reasoning' | 'tool-call' }>;

const MARKED = new Set<AssistantPart['type']>(['text', 'reasoning', 'tool-call']);

function isMarked(part: AssistantPart): part is MarkedPart {
  return MARKED.has(part.type);
}

export interface ReplyFinish {
  reason: FinishReason;
  usage: Usage;
}

/** What one model call says: takes the provider's stream parts, gives the chunks to write. */
export interface StepReply {
  /** Settles a call's id by other means than those of the reply alone, before the call is taken. */
  nameCall: (providerId: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  accept: (part: LanguageModelV4StreamPart) => StreamChunk[];
  fold: ReplyFold;
  calls: ProposedCall[];
  /** Calls of which nobody was told. */
  quietCalls: ReadonlySet<string>;
  /** True once there was something to show. */
  begun: () => boolean;
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
  /** Asked for each call as it begins: whether nobody is told of it before it is made. */
  isQuiet: (toolName: string) => boolean = () => false,
): StepReply {
  const fold = createReplyFold();
  const calls: ProposedCall[] = [];
  const ids = createCallIds(usedCallIds);
  let finish: ReplyFinish | undefined;
  let begun = false;
  const quietCalls = new Set<string>();
  /** Blocks that the provider has opened. */
  const blocks = new Map<string, { metadata: unknown; shown: boolean }>();

  type Fields<T extends StreamChunk['type']> = Omit<ChunkOf<T>, keyof ChunkBase | 'timestamp'>;
  const chunk = <T extends StreamChunk['type']>(fields: Fields<T>): StreamChunk =>
    ({ ...fields, ...base, timestamp: now() }) as unknown as StreamChunk;

  /** The step shows itself with its first output, so that a try that gave nothing leaves no trace. */
  function emit(...chunks: StreamChunk[]): StreamChunk[] {
    for (const each of chunks) fold.accept(each);
    if (chunks.every(isOfQuietCall)) return [];
    if (begun) return chunks;
    begun = true;
    return [
      chunk<'step_start'>({ type: 'step_start', stepId: `s${String(base.step)}` }),
      ...chunks,
    ];
  }

  /**
   * What a provider says about a block comes with its start, its deltas or its end; the newest word
   * counts. It goes back to the provider with the next call, so none may be lost.
   */
  function keepMetadata(part: MarkedPart | undefined, metadata: unknown): void {
    if (part !== undefined && metadata !== undefined) {
      part.providerMetadata = metadata as NonNullable<MarkedPart['providerMetadata']>;
    }
  }

  function newestPart(type: MarkedPart['type']): MarkedPart | undefined {
    const part = fold.parts.findLast(isMarked);
    return part?.type === type ? part : undefined;
  }

  function startBlock(type: 'text' | 'reasoning', id: string, metadata: unknown): void {
    fold.closeBlock();
    blocks.set(`${type} ${id}`, { metadata, shown: false });
  }

  function extendBlock(
    type: 'text' | 'reasoning',
    id: string,
    metadata: unknown,
    delta: StreamChunk | undefined,
  ): StreamChunk[] {
    const key = `${type} ${id}`;
    const block = blocks.get(key) ?? { metadata: undefined, shown: false };
    blocks.set(key, block);
    block.metadata = metadata ?? block.metadata;
    const chunks = delta === undefined ? [] : emit(delta);
    block.shown ||= delta !== undefined;
    if (block.shown) keepMetadata(newestPart(type), block.metadata);
    return chunks;
  }

  function endBlock(type: 'text' | 'reasoning', id: string, metadata: unknown): StreamChunk[] {
    const key = `${type} ${id}`;
    const chunks = extendBlock(type, id, metadata, undefined);
    const block = blocks.get(key);
    blocks.delete(key);
    if (block?.shown === false && block.metadata !== undefined) {
      // Nothing to see, yet the provider wants it back: encrypted or redacted reasoning.
      const unseen: MarkedPart = { type, text: '' };
      fold.parts.push(unseen);
      keepMetadata(unseen, block.metadata);
    }
    if (type === 'reasoning' && block?.shown === true && newestPart(type) !== undefined) {
      return emit(chunk<'thinking'>({ type: 'thinking', content: '', isComplete: true }));
    }
    fold.closeBlock();
    return chunks;
  }

  /** The call that hands in a result is folded into the reply; nobody is shown it. */
  function isOfQuietCall(made: StreamChunk): boolean {
    if (made.type === 'tool_arg_stream_start') {
      const { toolCallId, toolName } = made;
      if (toolName === FINISH_TOOL_NAME || isQuiet(toolName)) quietCalls.add(toolCallId);
    }
    return 'toolCallId' in made && quietCalls.has(String(made.toolCallId));
  }

  /** Arguments that are too large are refused in the end: nobody needs to see all of them. */
  function isTooLong(toolCallId: string): boolean {
    return (fold.argumentText.get(toolCallId)?.length ?? 0) > LIMITS.callInputBytes;
  }

  function showAttachment(fields: Attachment): StreamChunk[] {
    if (Buffer.byteLength(JSON.stringify(fields)) <= MAX_ATTACHMENT_BYTES) {
      return emit(chunk<Attachment['type']>(fields));
    }
    const error = 'Something that the model made is too large to be shown.';
    return [chunk<'error'>({ type: 'error', error, code: 'chunk_too_large', recoverable: true })];
  }

  function accept(part: LanguageModelV4StreamPart): StreamChunk[] {
    switch (part.type) {
      case 'text-start':
        startBlock('text', part.id, part.providerMetadata);
        return [];
      case 'text-delta': {
        const { id, delta, providerMetadata } = part;
        const shown = delta === '' ? undefined : chunk<'text_delta'>({ type: 'text_delta', delta });
        return extendBlock('text', id, providerMetadata, shown);
      }
      case 'text-end':
        return endBlock('text', part.id, part.providerMetadata);
      case 'reasoning-start':
        startBlock('reasoning', part.id, part.providerMetadata);
        return [];
      case 'reasoning-delta': {
        const { id, delta, providerMetadata } = part;
        const shown =
          delta === ''
            ? undefined
            : chunk<'thinking'>({ type: 'thinking', content: delta, isComplete: false });
        return extendBlock('reasoning', id, providerMetadata, shown);
      }
      case 'reasoning-end':
        return endBlock('reasoning', part.id, part.providerMetadata);
      case 'tool-input-start': {
        if (part.providerExecuted === true) return [];
        const toolCallId = ids.toSessionId(part.id);
        return emit(
          chunk<'tool_arg_stream_start'>({
            type: 'tool_arg_stream_start',
            toolCallId,
            toolName: toToolName(part.toolName),
          }),
        );
      }
      case 'tool-input-delta': {
        const toolCallId = ids.toSessionId(part.id);
        if (part.delta === '' || !fold.argumentText.has(toolCallId)) return [];
        if (isTooLong(toolCallId)) return [];
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
        const toolName = toToolName(part.toolName);
        // The same id again is another call.
        ids.close(part.toolCallId);
        calls.push({ toolCallId, toolName, input: part.input });
        const chunks = fold.argumentText.has(toolCallId)
          ? []
          : emit(
              chunk<'tool_arg_stream_start'>({
                type: 'tool_arg_stream_start',
                toolCallId,
                toolName,
              }),
            );
        keepMetadata(
          fold.parts
            .filter(isMarked)
            .find((made) => made.type === 'tool-call' && made.toolCallId === toolCallId),
          part.providerMetadata,
        );
        return chunks;
      }
      case 'source':
      case 'file':
        return showAttachment(toAttachment(part));
      case 'finish':
        finish = { reason: toFinishReason(part.finishReason.unified), usage: toUsage(part.usage) };
        return [];
      default:
        return [];
    }
  }

  return {
    nameCall: ids.name,
    accept,
    fold,
    calls,
    quietCalls,
    begun: () => begun,
    finish: () => finish,
  };
}

function toFinishReason(reason: string): FinishReason {
  const known: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error'];
  return known.includes(reason) ? (reason as FinishReason) : 'other';
}

/** Names of tools are ids of the protocol; a model may make up anything. */
function toToolName(name: string): string {
  return name === '' ? 'unnamed' : name.slice(0, LIMITS.idChars);
}

function toUsage({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: toCount(input.total) ?? 0,
    outputTokens: toCount(output.total) ?? 0,
    ...ifKnown('cachedTokens', input.cacheRead),
    ...ifKnown('cacheWriteTokens', input.cacheWrite),
    ...ifKnown('reasoningTokens', output.reasoning),
  };
}

function ifKnown(field: keyof Usage, tokens: number | undefined): Partial<Usage> {
  const count = toCount(tokens);
  return count === undefined ? {} : { [field]: count };
}

/** Providers have reported NaN and null. More than a billion is no count of one call. */
function toCount(tokens: number | null | undefined): number | undefined {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens)) return undefined;
  return Math.min(Math.max(0, Math.round(tokens)), 1_000_000_000);
}
