import type { LanguageModelV4StreamPart, LanguageModelV4ToolResult } from '@ai-sdk/provider';
import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { createReplyFold } from '../../protocol/reply-fold.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { isShownUrl } from '../../protocol/shown-url.js';
import {
  MAX_ATTACHMENT_BYTES,
  toAttachment,
  toUnseenFile,
  type Attachment,
  type ShownPart,
} from './attachments.js';
import { createCallIds } from './call-ids.js';
import { TOO_LARGE, type KeptFile } from './made-files.js';
import { createProviderCalls, toDenied, toKept, type ProviderChunk } from './provider-calls.js';
import { storableOf, toReplyFinish, type ReplyFinish } from './reply-finish.js';
import { createWholeCharacters, startOf } from './whole-characters.js';
import type { ChunkBase, ProposedCall, StepReply } from './reply-types.js';

type BlockType = 'text' | 'reasoning';

/** Pure but for the clock that stamps chunks. */
export function createStepReply(
  base: ChunkBase,
  usedCallIds: ReadonlySet<string>,
  now: () => number,
  /** Whether a call's chunks are deferred until the step is stored; asked as the call begins. */
  isDeferred: (toolName: string) => boolean = () => false,
  /** Whether pages carry the tool out. */
  isClients: (toolName: string) => boolean = () => false,
): StepReply {
  const fold = createReplyFold();
  const calls: ProposedCall[] = [];
  const ids = createCallIds(usedCallIds);
  let finish: ReplyFinish | undefined;
  let begun = false;
  const deferredCalls = new Set<string>();
  /** Blocks that the provider has opened. */
  const blocks = new Map<string, { metadata: unknown; shown: boolean }>();
  const providers = createProviderCalls();
  const inTexts = createWholeCharacters();
  const inArguments = createWholeCharacters();

  type Fields<T extends StreamChunk['type']> = Omit<ChunkOf<T>, keyof ChunkBase | 'timestamp'>;
  const chunk = <T extends StreamChunk['type']>(fields: Fields<T>): StreamChunk =>
    ({ ...fields, ...base, timestamp: now() }) as unknown as StreamChunk;

  /** `step_start` comes with the first output, so that a try without output leaves no trace. */
  function emit(...chunks: StreamChunk[]): StreamChunk[] {
    for (const each of chunks) fold.accept(each);
    if (chunks.every(isOfDeferredCall)) return [];
    if (begun) return chunks;
    begun = true;
    return [
      chunk<'step_start'>({ type: 'step_start', stepId: `s${String(base.step)}` }),
      ...chunks,
    ];
  }

  const newestPart = (type: MarkedPart['type']) => newestMarked(fold.parts, type);

  /** Nothing to see, yet the provider wants it back. */
  function keepUnseen(unseen: MarkedPart, metadata: unknown): void {
    fold.parts.push(unseen);
    keepMetadata(unseen, metadata);
  }

  function startBlock(type: BlockType, id: string, metadata: unknown): StreamChunk[] {
    const rest = endText(type, id);
    fold.closeBlock();
    blocks.set(`${type} ${id}`, { metadata: storableOf(metadata), shown: false });
    return rest;
  }

  function extendBlock(
    type: BlockType,
    id: string,
    metadata: unknown,
    text: string,
  ): StreamChunk[] {
    const key = `${type} ${id}`;
    const block = blocks.get(key) ?? { metadata: undefined, shown: false };
    blocks.set(key, block);
    block.metadata = storableOf(metadata) ?? block.metadata;
    const chunks = text === '' ? [] : emit(toDelta(type, text));
    block.shown ||= text !== '';
    if (block.shown) keepMetadata(newestPart(type), block.metadata);
    return chunks;
  }

  function endBlock(type: BlockType, id: string, metadata: unknown): StreamChunk[] {
    const key = `${type} ${id}`;
    const chunks = extendBlock(type, id, metadata, inTexts.end(key));
    const block = blocks.get(key);
    blocks.delete(key);
    if (block?.shown === false && block.metadata !== undefined) {
      // Encrypted or redacted reasoning.
      keepUnseen({ type, text: '' }, block.metadata);
    }
    if (type === 'reasoning' && block?.shown === true && newestPart(type) !== undefined) {
      const end = chunk<'thinking'>({ type: 'thinking', content: '', isComplete: true });
      return [...chunks, ...emit(end)];
    }
    fold.closeBlock();
    return chunks;
  }

  function toDelta(type: BlockType, text: string): StreamChunk {
    return type === 'text'
      ? chunk<'text_delta'>({ type: 'text_delta', delta: text })
      : chunk<'thinking'>({ type: 'thinking', content: text, isComplete: false });
  }

  /** Half a character that was left at the end of a block. */
  function endText(type: BlockType, id: string): StreamChunk[] {
    const rest = inTexts.end(`${type} ${id}`);
    return rest === '' ? [] : emit(toDelta(type, rest));
  }

  function openArguments(toolCallId: string, toolName: string): StreamChunk[] {
    const mark = isClients(toolName) && { byClient: true };
    const start = { type: 'tool_arg_stream_start' as const, toolCallId, toolName, ...mark };
    return emit(chunk<'tool_arg_stream_start'>(start));
  }

  function extendArguments(toolCallId: string, text: string): StreamChunk[] {
    if (text === '' || !fold.argumentText.has(toolCallId) || isTooLong(toolCallId)) return [];
    return emit(
      chunk<'tool_arg_stream_delta'>({
        type: 'tool_arg_stream_delta',
        toolCallId,
        delta: text,
      }),
    );
  }

  function endArguments(id: string): StreamChunk[] {
    const rest = inArguments.end(id);
    return rest === '' ? [] : extendArguments(ids.toSessionId(id), rest);
  }

  /** Not every provider sends the end of a block. */
  function endTexts(): StreamChunk[] {
    return inTexts.waiting().flatMap((key) => {
      const space = key.indexOf(' ');
      return endText(key.slice(0, space) as BlockType, key.slice(space + 1));
    });
  }

  /** The call that hands in a result is folded into the reply, and never shown. */
  function isOfDeferredCall(made: StreamChunk): boolean {
    if (made.type === 'tool_arg_stream_start') {
      const { toolCallId, toolName } = made;
      if (toolName === FINISH_TOOL_NAME || isDeferred(toolName)) deferredCalls.add(toolCallId);
    }
    return 'toolCallId' in made && deferredCalls.has(String(made.toolCallId));
  }

  /** Arguments that are too large are refused in the end: not all of them are shown. */
  function isTooLong(toolCallId: string): boolean {
    return (fold.argumentText.get(toolCallId)?.length ?? 0) > LIMITS.callInputBytes;
  }

  function callPart(toolCallId: string): MarkedPart | undefined {
    return fold.parts.find(
      (made): made is MarkedPart => made.type === 'tool-call' && made.toolCallId === toolCallId,
    );
  }

  /** The provider's own: of a call in this reply, or in an earlier one. */
  function takeResult(part: LanguageModelV4ToolResult): StreamChunk[] {
    const toolCallId = ids.known(part.toolCallId);
    if (toolCallId === undefined) return [];
    const made = providers.end({ ...part, toolCallId, toolName: toToolName(part.toolName) });
    const chunks = made === undefined ? [] : emit(chunk<ProviderChunk['type']>(made));
    const kept = newestPart('tool-result');
    if (part.preliminary !== true && kept?.type === 'tool-result') {
      Object.assign(kept, toKept(part));
      keepMetadata(kept, storableOf(part.providerMetadata));
    }
    return chunks;
  }

  /** The provider would wait for an answer that it cannot be given. */
  function denyAsked(toolCallId: string): StreamChunk[] {
    const call = callPart(ids.known(toolCallId) ?? '');
    if (call?.type !== 'tool-call' || call.kind !== 'provider') return [];
    return takeResult(toDenied(toolCallId, call.toolName));
  }

  const refuse = ({ error, code }: { error: string; code: string }): StreamChunk[] => [
    chunk<'error'>({ type: 'error', error, code, recoverable: true }),
  ];

  function showAttachment(part: ShownPart, kept: KeptFile | undefined): StreamChunk[] {
    if (kept !== undefined && 'error' in kept) return refuse(kept);
    const fields = toAttachment(part, kept?.url);
    const isOurs = kept !== undefined || fields.type === 'source_document';
    if (!isOurs && !isShownUrl(fields.type, fields.url)) return [];
    if (Buffer.byteLength(JSON.stringify(fields)) > MAX_ATTACHMENT_BYTES) return refuse(TOO_LARGE);
    const chunks = emit(chunk<Attachment['type']>(fields));
    if (part.type === 'file') keepMetadata(newestPart('file'), storableOf(part.providerMetadata));
    return chunks;
  }

  function accept(part: LanguageModelV4StreamPart, kept?: KeptFile): StreamChunk[] {
    switch (part.type) {
      case 'text-start':
        return startBlock('text', part.id, part.providerMetadata);
      case 'text-delta': {
        const { id, delta, providerMetadata } = part;
        return extendBlock('text', id, providerMetadata, inTexts.extend(`text ${id}`, delta));
      }
      case 'text-end':
        return endBlock('text', part.id, part.providerMetadata);
      case 'reasoning-start':
        return startBlock('reasoning', part.id, part.providerMetadata);
      case 'reasoning-delta': {
        const { id, delta, providerMetadata } = part;
        const text = inTexts.extend(`reasoning ${id}`, delta);
        return extendBlock('reasoning', id, providerMetadata, text);
      }
      case 'reasoning-end':
        return endBlock('reasoning', part.id, part.providerMetadata);
      case 'tool-input-start':
        return openArguments(ids.toSessionId(part.id), toToolName(part.toolName));
      case 'tool-input-delta':
        return extendArguments(ids.toSessionId(part.id), inArguments.extend(part.id, part.delta));
      case 'tool-input-end':
        return endArguments(part.id);
      case 'tool-call': {
        const toolCallId = ids.toSessionId(part.toolCallId);
        const toolName = toToolName(part.toolName);
        const rest = endArguments(part.toolCallId);
        const metadata = storableOf(part.providerMetadata);
        if (part.providerExecuted === true) {
          const made = providers.start({ ...part, toolCallId, toolName });
          const started = emit(chunk<ProviderChunk['type']>(made));
          keepMetadata(callPart(toolCallId), metadata);
          return [...rest, ...started];
        }
        // The same id again is another call.
        ids.close(part.toolCallId);
        const chunks = fold.argumentText.has(toolCallId) ? [] : openArguments(toolCallId, toolName);
        const byClient = isMarkedClients(callPart(toolCallId));
        calls.push({ toolCallId, toolName, input: part.input, ...(byClient && { byClient }) });
        keepMetadata(callPart(toolCallId), metadata);
        return [...rest, ...chunks];
      }
      case 'tool-result':
        return takeResult(part);
      case 'tool-approval-request':
        return denyAsked(part.toolCallId);
      case 'source':
      case 'file':
        return showAttachment(part, kept);
      case 'reasoning-file': {
        if (kept !== undefined && 'error' in kept) return refuse(kept);
        const stands = toUnseenFile(part, kept?.url);
        keepUnseen({ type: 'reasoning', text: '', stands }, storableOf(part.providerMetadata));
        return [];
      }
      case 'custom': {
        const stands = { type: part.type, kind: part.kind };
        keepUnseen({ type: 'reasoning', text: '', stands }, storableOf(part.providerMetadata));
        return [];
      }
      case 'finish':
        finish = toReplyFinish(part);
        return endTexts();
      default:
        return [];
    }
  }

  return {
    nameCall: ids.name,
    accept,
    knownId: ids.known,
    fold,
    calls,
    deferredCalls,
    begun: () => begun,
    finish: () => finish,
  };
}

/** Names of tools are ids of the protocol; a model may invent any text. */
function toToolName(name: string): string {
  return name === '' ? 'unnamed' : startOf(name, LIMITS.idChars);
}

/** Parts with metadata of the provider, which it wants back with the next call. */
type MarkedPart = Extract<
  AssistantPart,
  { type: 'text' | 'reasoning' | 'tool-call' | 'tool-result' | 'file' }
>;

const MARKED = new Set<AssistantPart['type']>([
  'text',
  'reasoning',
  'tool-call',
  'tool-result',
  'file',
]);

function isMarked(part: AssistantPart): part is MarkedPart {
  return MARKED.has(part.type);
}

/**
 * A provider's metadata comes with a block's start, its deltas or its end; the newest counts. It
 * goes back to the provider with the next call.
 */
function keepMetadata(part: MarkedPart | undefined, metadata: unknown): void {
  if (part !== undefined && metadata !== undefined) {
    part.providerMetadata = metadata as NonNullable<MarkedPart['providerMetadata']>;
  }
}

/** The newest part that can have metadata, if it is of this type. */
function newestMarked(
  parts: readonly AssistantPart[],
  type: MarkedPart['type'],
): MarkedPart | undefined {
  const part = parts.findLast(isMarked);
  return part?.type === type ? part : undefined;
}

function isMarkedClients(part: AssistantPart | undefined): boolean {
  return part?.type === 'tool-call' && part.byClient === true;
}
