import type { ChunkOf, ShownMetadata, StreamMessage } from './chunk.js';
import { isDeeperThan, LIMITS, tryParseJson, startOf } from './limits.js';
import type { AssistantPart } from './rows.js';

export type TextPart = Extract<AssistantPart, { type: 'text' | 'reasoning' }>;
type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;
type SourcePart = Extract<AssistantPart, { type: 'source-url' | 'source-document' }> & OfPart;

/** The reply of a step, built from its chunks: the parts of the row that will be stored. */
export interface ReplyFold {
  parts: AssistantPart[];
  /** Argument text of each call received so far. */
  argumentText: Map<string, string>;
  accept: (message: StreamMessage) => void;
  /** A block by its number among those of its kind. */
  blockOf: (type: TextPart['type'], n: number) => TextPart | undefined;
}

/**
 * Folds the chunks of one step into the parts of its row, with text in the blocks that pages show.
 */
export function createReplyFold(): ReplyFold {
  const parts: AssistantPart[] = [];
  const argumentText = new Map<string, string>();
  const calls = new Map<string, ToolCallPart>();
  const blocks = new ContentBlocks();
  const texts = new Map<string, TextPart>();
  const out: BlockParts = { push: addToBlock };

  function addToBlock(event: BlockPart): void {
    const { providerMetadata } = event;
    const part = texts.get(event.id) ?? beginBlock(event);
    if ('delta' in event) part.text += event.delta;
    if (providerMetadata !== undefined) part.providerMetadata = providerMetadata;
  }

  function beginBlock({ type, id }: BlockPart): TextPart {
    const part: TextPart = { type: type === 'text-start' ? 'text' : 'reasoning', text: '' };
    texts.set(id, part);
    parts.push(part);
    return part;
  }

  /** @param by who executes the call; the first chunk of a call settles the page's name for it */
  function upsertCall(
    toolCallId: string,
    toolName: string,
    input: unknown,
    by: OfPart & { byClient?: boolean | undefined; byProvider?: boolean | undefined } = {},
  ): void {
    let call = calls.get(toolCallId);
    if (call === undefined) {
      call = { type: 'tool-call', toolCallId, toolName, input, kind: 'server' };
      calls.set(toolCallId, call);
      parts.push(call);
    }
    call.input = input;
    if (by.byProvider === true) call.kind = 'provider';
    if (by.byClient === true) call.byClient = true;
    if (by.providerMetadata !== undefined) call.providerMetadata = by.providerMetadata;
  }

  function accept(message: StreamMessage): void {
    switch (message.type) {
      case 'text_delta':
        blocks.write('text', message.delta, message, out);
        break;
      case 'thinking':
        blocks.write('reasoning', message.content, message, out);
        break;
      case 'tool_arg_stream_start':
        blocks.leave(out);
        argumentText.set(message.toolCallId, '');
        upsertCall(message.toolCallId, message.toolName, {}, message);
        break;
      case 'tool_arg_stream_delta':
        argumentText.set(
          message.toolCallId,
          (argumentText.get(message.toolCallId) ?? '') + message.delta,
        );
        break;
      case 'tool_start':
        blocks.leave(out);
        upsertCall(message.toolCallId, message.toolName, message.arguments, message);
        break;
      case 'tool_end': {
        if (message.byProvider !== true) break;
        const { toolCallId, toolName, result, error } = message;
        const failed = error === undefined ? { output: result } : { output: error, isError: true };
        parts.push({ type: 'tool-result', toolCallId, toolName, ...failed });
        break;
      }
      case 'tool_approval_request':
        blocks.leave(out);
        upsertCall(message.toolCallId, message.toolName, message.input, message);
        break;
      case 'tool_input_error':
        blocks.leave(out);
        upsertCall(message.toolCallId, message.toolName, message.partialInput ?? {});
        break;
      // Sources and files leave the open block open.
      case 'source_url':
      case 'source_document':
        parts.push(toSource(message));
        break;
      case 'file': {
        const { url, mediaType, providerMetadata } = message;
        parts.push({ type: 'file', url, mediaType, providerMetadata });
        break;
      }
      default:
        break;
    }
  }

  const blockOf = (type: BlockKind, n: number) => texts.get(formatBlockId(type, 0, n));
  return { parts, argumentText, accept, blockOf };
}

interface OfPart {
  providerMetadata?: ShownMetadata | undefined;
}

/** Converts a source into the part that is stored and shown, with the keys that every client accepts. */
export function toSource(chunk: ChunkOf<'source_url'> | ChunkOf<'source_document'>): SourcePart {
  const { sourceId, providerMetadata } = chunk;
  if (chunk.type === 'source_url') {
    const { url, title } = chunk;
    return { type: 'source-url', sourceId, url, title, providerMetadata };
  }
  const { mediaType, title, filename } = chunk;
  return { type: 'source-document', sourceId, mediaType, title, filename, providerMetadata };
}

/** Parses an argument text; returns an empty object unless it is JSON that can be stored. */
export function toPartialInput(argumentText: string | undefined): unknown {
  if (argumentText === undefined || argumentText.trim() === '') return {};
  if (isDeeperThan(LIMITS.jsonDepth, argumentText)) return {};
  // A text that was cut off is no usable input.
  return tryParseJson(argumentText, {});
}

/** Returns true for a call that the provider has executed within the same reply. */
export function isCarriedOut(parts: readonly AssistantPart[], call: AssistantPart): boolean {
  if (call.type !== 'tool-call' || call.kind !== 'provider') return false;
  const { toolCallId } = call;
  return parts.some((part) => part.type === 'tool-result' && part.toolCallId === toolCallId);
}

/** Events of a block, by the AI SDK's names. */
export type BlockPart = { id: string; providerMetadata?: ShownMetadata | undefined } & (
  | { type: `${BlockKind}-start` | `${BlockKind}-end` }
  | { type: `${BlockKind}-delta`; delta: string }
);

interface BlockParts {
  push: (part: BlockPart) => unknown;
}

/** Formats the id of a block, which is the same live, on replay and in history. */
export function formatBlockId(kind: BlockKind, step: number, n: number): string {
  return `${kind === 'text' ? 't' : 'r'}${String(step)}-${String(n)}`;
}

type BlockKind = 'text' | 'reasoning';
type OfBlock = Pick<ChunkOf<'text_delta'>, 'block' | 'isComplete' | 'providerMetadata'>;
interface Block {
  kind: BlockKind;
  id: string;
  /** True for a numbered block; other content leaves it open. */
  isKept: boolean;
}

/** The text and reasoning blocks of one step; each has a predictable id. */
export class ContentBlocks {
  #step = 0;
  #counts = { text: 0, reasoning: 0 };
  #open: Block[] = [];
  /** The block that unnumbered content of its kind continues. */
  #current: Block | undefined;

  /** Restarts the numbering; open blocks are forgotten, not closed. */
  reset(step: number): void {
    this.#step = step;
    this.#counts = { text: 0, reasoning: 0 };
    this.#open = [];
    this.#current = undefined;
  }

  write(kind: BlockKind, delta: string, of: OfBlock, out: BlockParts): void {
    const { block: n, isComplete = false, providerMetadata } = of;
    const metadata = providerMetadata === undefined ? undefined : { providerMetadata };
    let block = n === undefined ? this.#current : this.#find(kind, n);
    const isKnown = block?.kind === kind;
    if (block === undefined || !isKnown) {
      if (delta === '' && n === undefined) return;
      block = this.#begin(kind, n, out);
      out.push({ type: `${kind}-start`, id: block.id, ...metadata });
    }
    const { id } = block;
    block.isKept ||= n !== undefined;
    this.#current = block;
    if (delta !== '') {
      out.push({ type: `${kind}-delta`, id, delta, ...(isKnown ? metadata : undefined) });
    } else if (isKnown && metadata !== undefined && !isComplete) {
      out.push({ type: `${kind}-delta`, id, delta, ...metadata });
    }
    if (!isComplete) return;
    this.#open = this.#open.filter((each) => each !== block);
    this.#current = undefined;
    out.push({ type: `${kind}-end`, id, ...(delta === '' && isKnown ? metadata : undefined) });
  }

  /** Ends the unnumbered blocks, since a call follows. */
  leave(out: BlockParts): void {
    const left = this.#open.filter(({ isKept }) => !isKept);
    this.#open = this.#open.filter(({ isKept }) => isKept);
    this.#current = undefined;
    for (const { kind, id } of left) out.push({ type: `${kind}-end`, id });
  }

  close(out: BlockParts): void {
    for (const { kind, id } of this.#open) out.push({ type: `${kind}-end`, id });
    this.#open = [];
    this.#current = undefined;
  }

  /** Announces open blocks again, for a reader that joins in the middle of them. */
  reopen(out: BlockParts): void {
    for (const { kind, id } of this.#open) out.push({ type: `${kind}-start`, id });
  }

  #find(kind: BlockKind, n: number): Block | undefined {
    const id = formatBlockId(kind, this.#step, n);
    return this.#open.find((block) => block.id === id);
  }

  #begin(kind: BlockKind, n: number | undefined, out: BlockParts): Block {
    if (n === undefined) this.close(out);
    const number = n ?? this.#counts[kind] + 1;
    this.#counts[kind] = Math.max(this.#counts[kind], number);
    const block = { kind, id: formatBlockId(kind, this.#step, number), isKept: n !== undefined };
    this.#open.push(block);
    return block;
  }
}

type ProviderResult = Pick<Extract<AssistantPart, { type: 'tool-result' }>, 'output' | 'isError'>;

/** Chunk limit, less some room for the fields that all chunks have. */
const MAX_SHOWN_BYTES = LIMITS.chunkBytes - 2 * 1024;

/**
 * Converts the result of a provider's call to the form that people see, live and in history. A
 * result that no chunk can hold is kept for the provider alone, and shown as null.
 */
export function toShownResult({ output, isError }: ProviderResult): {
  result: unknown;
  error?: string;
} {
  const json = JSON.stringify(output ?? null);
  if (isError === true) {
    const text = typeof output === 'string' ? output : (deniedReason(output) ?? json);
    return { result: null, error: startOf(text, LIMITS.errorTextBytes / 4) };
  }
  return { result: isTooLargeToShow(output) ? null : (output ?? null) };
}

/** Returns the metadata that viewers get: none if it is too long. Pure. */
export function toShownMetadata(metadata: object | undefined): {
  providerMetadata?: ShownMetadata;
} {
  if (metadata === undefined) return {};
  const isShort = JSON.stringify(metadata).length <= LIMITS.shownMetadataChars;
  return isShort ? { providerMetadata: metadata as ShownMetadata } : {};
}

export function isTooLargeToShow(value: unknown): boolean {
  return new TextEncoder().encode(JSON.stringify(value ?? null)).length > MAX_SHOWN_BYTES;
}

/** Returns the reason for denying a provider's call; undefined for other results. */
export function deniedReason(output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { type, reason } = output as { type?: unknown; reason?: unknown };
  return type === 'execution-denied' && typeof reason === 'string' ? reason : undefined;
}

const LINKS: ReadonlySet<string> = new Set(['http:', 'https:']);
const FILES: ReadonlySet<string> = new Set([...LINKS, 'data:']);

/**
 * Returns true for a URL that a page may link to, or show as a file. `javascript:` and similar schemes
 * would run in the page, and a path would refer to the page's own server.
 */
export function isShownUrl(type: 'source_url' | 'file', url: string): boolean {
  if (!URL.canParse(url)) return false;
  return (type === 'file' ? FILES : LINKS).has(new URL(url).protocol);
}
