import type { StreamChunk } from '../../protocol/chunk.js';
import { findJsonFault } from '../../protocol/limits.js';
import { toShownMetadata, type ReplyFold, type TextPart } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';

type Unplaced<Chunk> = Chunk extends StreamChunk
  ? Omit<Chunk, 'agentId' | 'agentType' | 'step' | 'timestamp'>
  : never;

/** A chunk of a reply without its place and time. */
export type ChunkFields = Unplaced<StreamChunk>;

type BlockType = TextPart['type'];

interface Block {
  readonly type: BlockType;
  readonly id: string;
  /** Last part before the block. */
  readonly after: AssistantPart | undefined;
  /** The provider's newest metadata, from the block's start, a delta, or the end. */
  metadata: TextPart['providerMetadata'];
  /** Metadata that readers have. */
  told?: TextPart['providerMetadata'];
  /** Number among the step's blocks of its type, from 1; 0 until readers know the block. */
  n: number;
  /** True if readers know the number, and so keep the block open until its end. */
  isNamed: boolean;
  /** The row's part of a text that a call has ended for readers. */
  left?: TextPart | undefined;
}

/**
 * Writes the text and reasoning blocks of a reply, by the provider's ids. Readers append a text to
 * the previous one unless another part comes between, so only overlapping blocks are numbered, and
 * ends are sent only if needed.
 */
export class ReplyBlocks {
  readonly #fold: Pick<ReplyFold, 'parts' | 'blockOf'>;
  readonly #emit: (fields: ChunkFields) => StreamChunk[];
  /** Open blocks, in the order of their beginning. */
  readonly #open = new Map<string, Block>();
  readonly #counts = { text: 0, reasoning: 0 };
  readonly #inTexts = new WholeCharacters();
  /** Block that readers continue with unnumbered text of its type. */
  #current: Block | undefined;

  constructor(
    fold: Pick<ReplyFold, 'parts' | 'blockOf'>,
    emit: (fields: ChunkFields) => StreamChunk[],
  ) {
    this.#fold = fold;
    this.#emit = emit;
  }

  start(type: BlockType, id: string, metadata: unknown): StreamChunk[] {
    const ended = this.#open.has(keyOf(type, id)) ? this.end(type, id) : [];
    note(this.#begin(type, id), metadata);
    return ended;
  }

  extend(type: BlockType, id: string, delta: string, metadata: unknown): StreamChunk[] {
    return this.#add(type, id, this.#inTexts.extend(keyOf(type, id), delta), metadata);
  }

  end(type: BlockType, id: string, metadata?: unknown): StreamChunk[] {
    const { parts } = this.#fold;
    const key = keyOf(type, id);
    const rest = this.#inTexts.end(key);
    const chunks = rest === '' ? [] : this.#add(type, id, rest);
    const block = this.#open.get(key) ?? this.#begin(type, id);
    note(block, metadata);
    const { n, isNamed, left, after, metadata: providerMetadata } = block;
    if (n > 0) {
      if (type === 'reasoning' || isNamed || hasNews(block)) {
        chunks.push(...this.#write(block, '', END));
        const part = this.#fold.blockOf(type, n);
        // The block was shown only to keep the order.
        const isEmpty = part?.text === '' && providerMetadata === undefined;
        if (isEmpty) parts.splice(parts.indexOf(part), 1);
      }
    } else if (providerMetadata !== undefined) {
      if (left !== undefined) left.providerMetadata = providerMetadata;
      else {
        // Encrypted or redacted reasoning is kept for the provider, at the position where it began.
        const at = after === undefined ? 0 : parts.indexOf(after) + 1;
        parts.splice(at, 0, { type, text: '', providerMetadata });
      }
    }
    this.#open.delete(key);
    return chunks;
  }

  /** Prepares for a call, which readers take for the end of all blocks but the named ones. */
  leave(isHidden: boolean): StreamChunk[] {
    const chunks: StreamChunk[] = [];
    const current = this.#current;
    // Readers do not see the hidden call between this text and the next.
    if (isHidden && current?.type === 'text' && !current.isNamed) {
      chunks.push(...this.#write(current, '', END));
    }
    for (const block of this.#open.values()) {
      if (block.n === 0 || block.isNamed) continue;
      // Text behind a call is shown behind it; signed reasoning stays whole.
      if (block.type === 'reasoning') chunks.push(...this.#write(block, '', { mustName: true }));
      else {
        const left = this.#fold.blockOf('text', block.n);
        Object.assign(block, { n: 0, told: undefined, left });
      }
    }
    this.#current = undefined;
    return chunks;
  }

  /** Ends all open blocks; not every provider sends their ends. */
  endAll(): StreamChunk[] {
    return [...this.#open.values()].flatMap(({ type, id }) => this.end(type, id));
  }

  #begin(type: BlockType, id: string): Block {
    const after = this.#fold.parts.at(-1);
    const block: Block = { type, id, after, metadata: undefined, n: 0, isNamed: false };
    this.#open.set(keyOf(type, id), block);
    return block;
  }

  #add(type: BlockType, id: string, text: string, metadata?: unknown): StreamChunk[] {
    const block = this.#open.get(keyOf(type, id)) ?? this.#begin(type, id);
    note(block, metadata);
    if (text === '' && (block.n === 0 || !hasNews(block))) return [];
    return block.n === 0 ? this.#show(block, text) : this.#write(block, text);
  }

  /** Shows a block for the first time. Pages order blocks by their beginning. */
  #show(block: Block, text: string): StreamChunk[] {
    const { type } = block;
    const chunks: StreamChunk[] = [];
    const others = [...this.#open.values()];
    for (const other of others.slice(0, others.indexOf(block))) {
      if (other.n === 0 && other.left === undefined) chunks.push(...this.#show(other, ''));
    }
    const isBeside = others.some((other) => other !== block && other.n > 0);
    const current = this.#current;
    if (!isBeside && current?.type === type) chunks.push(...this.#write(current, '', END));
    block.n = this.#counts[type] += 1;
    chunks.push(...this.#write(block, text, { mustName: isBeside || text === '' }));
    return chunks;
  }

  /** @param mustName default: true if readers would take the chunk for another block's */
  #write(
    block: Block,
    text: string,
    { isComplete = false, mustName = this.#current !== block } = {},
  ): StreamChunk[] {
    const { type, n, metadata } = block;
    const fields = {
      ...(mustName && { block: n }),
      ...(hasNews(block) && toShownMetadata(metadata)),
    };
    block.told = metadata;
    block.isNamed ||= mustName;
    this.#current = isComplete ? undefined : block;
    const chunks = this.#emit(
      type === 'reasoning'
        ? { type: 'thinking', content: text, isComplete, ...fields }
        : { type: 'text_delta', delta: text, ...(isComplete && { isComplete }), ...fields },
    );
    const part = this.#fold.blockOf(type, n);
    if (part !== undefined && metadata !== undefined) part.providerMetadata = metadata;
    return chunks;
  }
}

function note(block: Block, metadata: unknown): void {
  const storable = storableOf(metadata) as TextPart['providerMetadata'];
  if (storable === undefined) return;
  // Some providers repeat the metadata with each delta.
  if (JSON.stringify(storable) !== JSON.stringify(block.metadata)) block.metadata = storable;
}

function keyOf(type: BlockType, id: string): string {
  return `${type} ${id}`;
}

/** Returns true if readers lack the newest metadata. */
function hasNews({ metadata, told }: Block): boolean {
  return metadata !== told;
}

const END = { isComplete: true };

/** Returns a provider's value, or undefined if it is no JSON or nested too deeply. */
export function storableOf(value: unknown): unknown {
  return value === undefined || findJsonFault(value) !== undefined ? undefined : value;
}

/**
 * Makes deltas end at whole characters, since a provider may split a surrogate pair. The first half
 * waits for the block's next delta, so that each chunk can be stored unchanged.
 */
export class WholeCharacters {
  readonly #halves = new Map<string, string>();

  /** Returns the text that the delta completes; '' if it completes none. */
  extend(block: string, delta: string): string {
    const text = (this.#halves.get(block) ?? '') + delta;
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last <= 0xdbff;
    if (isCut) this.#halves.set(block, text.slice(-1));
    else this.#halves.delete(block);
    return (isCut ? text.slice(0, -1) : text).toWellFormed();
  }

  /** Ends a block and returns its rest: U+FFFD for half a character. */
  end(block: string): string {
    return this.#halves.delete(block) ? '\ufffd' : '';
  }
}
