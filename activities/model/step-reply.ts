import type { LanguageModelV4StreamPart, LanguageModelV4ToolResult } from '@ai-sdk/provider';
import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { toShownMetadata } from '../../protocol/provider-result.js';
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
import { createReplyBlocks } from './reply-blocks.js';
import { createProviderCalls, toDenied, toKept, type ProviderChunk } from './provider-calls.js';
import { storableOf, toReplyFinish, type ReplyFinish } from './reply-finish.js';
import { createWholeCharacters, startOf } from './whole-characters.js';
import type { ChunkBase, ProposedCall, StepReply } from './reply-types.js';

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
  const providers = createProviderCalls();
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

  const blocks = createReplyBlocks(fold, (type, text, isComplete = false, fields) => {
    if (type === 'reasoning') {
      const thinking = { type: 'thinking' as const, content: text, isComplete };
      return emit(chunk<'thinking'>(fields === undefined ? thinking : { ...thinking, ...fields }));
    }
    const delta = { type: 'text_delta' as const, delta: text };
    if (fields === undefined) return emit(chunk<'text_delta'>(delta));
    return emit(chunk<'text_delta'>({ ...delta, ...(isComplete && { isComplete }), ...fields }));
  });

  /** Nothing to see, yet the provider wants it back. */
  function keepUnseen(unseen: MarkedPart, metadata: unknown): void {
    fold.parts.push(unseen);
    keepMetadata(unseen, metadata);
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

  /** The call that hands in a result is folded into the reply, and never shown. */
  function isHidden(toolName: string): boolean {
    return toolName === FINISH_TOOL_NAME || isDeferred(toolName);
  }

  /** Shows that the model makes a call. */
  function openCall(toolCallId: string, toolName: string): StreamChunk[] {
    const mark = isClients(toolName) && { byClient: true };
    const start = { type: 'tool_arg_stream_start' as const, toolCallId, toolName, ...mark };
    return [...blocks.leave(isHidden(toolName)), ...emit(chunk<'tool_arg_stream_start'>(start))];
  }

  function isOfDeferredCall(made: StreamChunk): boolean {
    if (made.type === 'tool_arg_stream_start') {
      const { toolCallId, toolName } = made;
      if (isHidden(toolName)) deferredCalls.add(toolCallId);
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
    const kept = fold.parts.findLast(
      (each) => each.type === 'tool-result' && each.toolCallId === toolCallId,
    );
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
    const metadata = storableOf(part.providerMetadata) as object | undefined;
    const fields = toAttachment(part, kept?.url);
    const isOurs = kept !== undefined || fields.type === 'source_document';
    if (!isOurs && !isShownUrl(fields.type, fields.url)) return [];
    if (Buffer.byteLength(JSON.stringify(fields)) > MAX_ATTACHMENT_BYTES) return refuse(TOO_LARGE);
    const told = { ...fields, ...toShownMetadata(metadata) };
    const isRoom = Buffer.byteLength(JSON.stringify(told)) <= MAX_ATTACHMENT_BYTES;
    const chunks = emit(chunk<Attachment['type']>(isRoom ? told : fields));
    keepMetadata(fold.parts.at(-1), metadata);
    return chunks;
  }

  function accept(part: LanguageModelV4StreamPart, kept?: KeptFile): StreamChunk[] {
    switch (part.type) {
      case 'text-start':
        return blocks.start('text', part.id, part.providerMetadata);
      case 'text-delta':
        return blocks.extend('text', part.id, part.delta, part.providerMetadata);
      case 'text-end':
        return blocks.end('text', part.id, part.providerMetadata);
      case 'reasoning-start':
        return blocks.start('reasoning', part.id, part.providerMetadata);
      case 'reasoning-delta':
        return blocks.extend('reasoning', part.id, part.delta, part.providerMetadata);
      case 'reasoning-end':
        return blocks.end('reasoning', part.id, part.providerMetadata);
      case 'tool-input-start':
        return openCall(ids.toSessionId(part.id), toToolName(part.toolName));
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
          const left = blocks.leave(false);
          const started = [...left, ...emit(chunk<ProviderChunk['type']>(made))];
          keepMetadata(callPart(toolCallId), metadata);
          return [...rest, ...started];
        }
        // The same id again is another call.
        ids.close(part.toolCallId);
        const chunks = fold.argumentText.has(toolCallId) ? [] : openCall(toolCallId, toolName);
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
        return blocks.endAll();
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
type MarkedPart = Extract<AssistantPart, { providerMetadata?: unknown }>;

function keepMetadata(part: MarkedPart | undefined, metadata: unknown): void {
  if (part !== undefined && metadata !== undefined) {
    part.providerMetadata = metadata as NonNullable<MarkedPart['providerMetadata']>;
  }
}

function isMarkedClients(part: AssistantPart | undefined): boolean {
  return part?.type === 'tool-call' && part.byClient === true;
}
