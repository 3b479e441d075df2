import type { LanguageModelV4StreamPart, LanguageModelV4ToolResult } from '@ai-sdk/provider';
import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import {
  isShownUrl,
  toShownMetadata,
  createReplyFold,
  type ReplyFold,
  type TextPart,
} from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { createCallIds, startOf } from './call-ids.js';
import {
  MAX_ATTACHMENT_BYTES,
  toAttachment,
  TOO_LARGE,
  toUnseenFile,
  type Attachment,
  type ShownPart,
} from './made-files.js';
import { createProviderCalls, toDenied, toKept, type ProviderChunk } from './provider-calls.js';
import {
  storableOf,
  toReplyFinish,
  type ChunkBase,
  type KeptFile,
  type ProposedCall,
  type ReplyFinish,
  type StepReply,
} from './reply-types.js';

/** Creates the reply of one model call. Pure, except that `now` stamps chunks. */
export function createStepReply(
  base: ChunkBase,
  usedCallIds: ReadonlySet<string>,
  now: () => number,
  /** Returns true if a call's chunks wait until the step is stored; asked as the call begins. */
  isDeferred: (toolName: string) => boolean = () => false,
  /** Returns true if pages execute the tool. */
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

  /** Emits `step_start` with the first output, so that a try without output leaves no trace. */
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

  /** Keeps an invisible part, which the provider wants back. */
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

  /** Returns true for calls that are folded into the reply but not shown yet, or never. */
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

  /** Returns true if the arguments exceed the limit; the rest is not shown, the call refused. */
  function isTooLong(toolCallId: string): boolean {
    return (fold.argumentText.get(toolCallId)?.length ?? 0) > LIMITS.callInputBytes;
  }

  function callPart(toolCallId: string): MarkedPart | undefined {
    return fold.parts.find(
      (made): made is MarkedPart => made.type === 'tool-call' && made.toolCallId === toolCallId,
    );
  }

  /** Takes the provider's own result of a call in this reply or an earlier one. */
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

  /** Denies an approval that the provider requests, because no person can answer it. */
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
        // A repeated id names another call.
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

/** Makes a name a valid id of the protocol; a model may invent any text. */
function toToolName(name: string): string {
  return name === '' ? 'unnamed' : startOf(name, LIMITS.idChars);
}

/** A part whose metadata the provider wants back with the next call. */
type MarkedPart = Extract<AssistantPart, { providerMetadata?: unknown }>;

function keepMetadata(part: MarkedPart | undefined, metadata: unknown): void {
  if (part !== undefined && metadata !== undefined) {
    part.providerMetadata = metadata as NonNullable<MarkedPart['providerMetadata']>;
  }
}

function isMarkedClients(part: AssistantPart | undefined): boolean {
  return part?.type === 'tool-call' && part.byClient === true;
}

type BlockType = TextPart['type'];
type ProviderMetadata = NonNullable<TextPart['providerMetadata']>;
type DeltaFields = Pick<ChunkOf<'text_delta'>, 'block' | 'providerMetadata'>;

/** Text and reasoning blocks of a reply, by the provider's ids. */
interface ReplyBlocks {
  start: (type: BlockType, id: string, metadata: unknown) => StreamChunk[];
  extend: (type: BlockType, id: string, delta: string, metadata: unknown) => StreamChunk[];
  end: (type: BlockType, id: string, metadata: unknown) => StreamChunk[];
  /** Prepares for a call, which readers take for the end of all blocks but those marked as open. */
  leave: (isHidden: boolean) => StreamChunk[];
  /** Ends all open blocks; not every provider sends their ends. */
  endAll: () => StreamChunk[];
}

interface Block {
  readonly type: BlockType;
  readonly id: string;
  /** The provider's newest metadata, from the block's start, a delta, or the end. */
  metadata: ProviderMetadata | undefined;
  /** Last part before the block. */
  readonly after: AssistantPart | undefined;
  /** Set once readers know the block. */
  shown?: Shown | undefined;
  /** The row's part of a text that a call has ended for readers. */
  left?: TextPart;
}

interface Shown {
  /** Number among the step's blocks of its type. */
  readonly n: number;
  /** The row's part. */
  part: TextPart;
  /** True if readers know the number, and so keep the block open until its end. */
  isNamed: boolean;
  /** Metadata that readers have. */
  metadata: ProviderMetadata | undefined;
}

/**
 * Creates the blocks of a reply. Readers append a text to the previous one unless another part
 * comes between, so only overlapping blocks are numbered, and ends are sent only if needed.
 */
function createReplyBlocks(
  fold: Pick<ReplyFold, 'parts' | 'blockOf'>,
  emit: (
    type: BlockType,
    text: string,
    isComplete?: boolean,
    fields?: DeltaFields,
  ) => StreamChunk[],
): ReplyBlocks {
  /** Open blocks, in the order of their beginning. */
  const open = new Map<string, Block>();
  const counts = { text: 0, reasoning: 0 };
  const inTexts = createWholeCharacters();
  /** Block that readers continue with unnumbered text of its type. */
  let current: Block | undefined;

  function begin(type: BlockType, id: string): Block {
    const block: Block = { type, id, metadata: undefined, after: fold.parts.at(-1) };
    open.set(keyOf(type, id), block);
    return block;
  }

  /** @param mustName default: true if readers would take the chunk for another block's */
  function write(
    block: Block,
    text: string,
    { isComplete = false, mustName = current !== block } = {},
  ): StreamChunk[] {
    if (block.shown === undefined) return show(block, text);
    const { shown } = block;
    const fields: DeltaFields = mustName ? { block: shown.n } : {};
    if (hasNews(block)) Object.assign(fields, toShownMetadata(block.metadata));
    shown.metadata = block.metadata;
    shown.isNamed ||= mustName;
    current = isComplete ? undefined : block;
    const chunks = emit(block.type, text, isComplete, fields);
    if (shown.metadata !== undefined) shown.part.providerMetadata = shown.metadata;
    return chunks;
  }

  /** Shows a block for the first time. Pages order blocks by their beginning. */
  function show(block: Block, text: string): StreamChunk[] {
    const { type } = block;
    const chunks: StreamChunk[] = [];
    const others = [...open.values()];
    for (const other of others.slice(0, others.indexOf(block))) {
      const isUnheard = other.shown === undefined && other.left === undefined;
      if (isUnheard) chunks.push(...show(other, ''));
    }
    const isBeside = others.some((other) => other !== block && other.shown !== undefined);
    if (!isBeside && current?.type === type) chunks.push(...write(current, '', END));
    const part: TextPart = { type, text: '' };
    block.shown = { n: (counts[type] += 1), part, isNamed: false, metadata: undefined };
    chunks.push(...write(block, text, { mustName: isBeside || text === '' }));
    block.shown.part = fold.blockOf(type, block.shown.n) ?? part;
    if (block.metadata !== undefined) block.shown.part.providerMetadata = block.metadata;
    return chunks;
  }

  function note(block: Block, metadata: unknown): void {
    const storable = storableOf(metadata) as ProviderMetadata | undefined;
    if (storable === undefined) return;
    // Some providers repeat the metadata with each delta.
    if (JSON.stringify(storable) !== JSON.stringify(block.metadata)) block.metadata = storable;
  }

  function extend(type: BlockType, id: string, text: string, metadata: unknown): StreamChunk[] {
    const block = open.get(keyOf(type, id)) ?? begin(type, id);
    if (metadata !== undefined) note(block, metadata);
    const isSilent = text === '' && (block.shown === undefined || !hasNews(block));
    return isSilent ? [] : write(block, text);
  }

  function end(type: BlockType, id: string, metadata: unknown): StreamChunk[] {
    const key = keyOf(type, id);
    const rest = inTexts.end(key);
    const chunks = rest === '' ? [] : extend(type, id, rest, undefined);
    const block = open.get(key) ?? begin(type, id);
    note(block, metadata);
    const { shown, left, after } = block;
    if (shown === undefined && left !== undefined) {
      if (block.metadata !== undefined) left.providerMetadata = block.metadata;
    } else if (shown === undefined) {
      // Encrypted or redacted reasoning is kept for the provider, at the position where it began.
      const at = after === undefined ? 0 : fold.parts.indexOf(after) + 1;
      const { metadata: providerMetadata } = block;
      const unseen = { type, text: '', providerMetadata } as TextPart;
      if (providerMetadata !== undefined) fold.parts.splice(at, 0, unseen);
    } else if (type === 'reasoning' || shown.isNamed || hasNews(block)) {
      chunks.push(...write(block, '', END));
      // The block was shown only to keep the order.
      const isEmpty = shown.part.text === '' && block.metadata === undefined;
      if (isEmpty) fold.parts.splice(fold.parts.indexOf(shown.part), 1);
    }
    open.delete(key);
    return chunks;
  }

  return {
    start: (type, id, metadata) => {
      const ended = open.has(keyOf(type, id)) ? end(type, id, undefined) : [];
      note(begin(type, id), metadata);
      return ended;
    },
    extend: (type, id, delta, metadata) => {
      const key = keyOf(type, id);
      const text = inTexts.extend(key, delta);
      const block = current;
      // The common case: more text of the current block.
      if (metadata === undefined && text !== '' && block?.shown && open.get(key) === block) {
        if (!hasNews(block)) return emit(type, text);
      }
      return extend(type, id, text, metadata);
    },
    end,
    leave: (isHidden) => {
      const chunks: StreamChunk[] = [];
      // Readers do not see the hidden call between this text and the next.
      const isSilent = isHidden && current?.type === 'text' && current.shown?.isNamed !== true;
      if (isSilent && current !== undefined) chunks.push(...write(current, '', END));
      for (const block of open.values()) {
        if (block.shown?.isNamed !== false) continue;
        // Text behind a call is shown behind it; signed reasoning stays whole.
        if (block.type === 'reasoning') chunks.push(...write(block, '', { mustName: true }));
        else {
          block.left = block.shown.part;
          block.shown = undefined;
        }
      }
      current = undefined;
      return chunks;
    },
    endAll: () => [...open.values()].flatMap(({ type, id }) => end(type, id, undefined)),
  };
}

function keyOf(type: BlockType, id: string): string {
  return `${type} ${id}`;
}

/** Returns true if readers lack the newest metadata. */
function hasNews({ metadata, shown }: Block): boolean {
  return metadata !== shown?.metadata;
}

const END = { isComplete: true };

/**
 * Makes deltas end at whole characters, since a provider may split a surrogate pair. The first half
 * waits for the block's next delta, so that each chunk can be stored unchanged.
 */
interface WholeCharacters {
  /** Returns the text that the delta completes; '' if it completes none. */
  extend: (block: string, delta: string) => string;
  /** Ends a block and returns its rest: U+FFFD for half a character. */
  end: (block: string) => string;
}

function createWholeCharacters(): WholeCharacters {
  const halves = new Map<string, string>();
  return {
    extend: (block, delta) => {
      const text = (halves.get(block) ?? '') + delta;
      const last = text.charCodeAt(text.length - 1);
      const isCut = last >= 0xd800 && last <= 0xdbff;
      if (isCut) halves.set(block, text.slice(-1));
      else halves.delete(block);
      return (isCut ? text.slice(0, -1) : text).toWellFormed();
    },
    end: (block) => (halves.delete(block) ? '\ufffd' : ''),
  };
}
