import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { toShownMetadata } from '../../protocol/provider-result.js';
import type { ReplyFold, TextPart } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { storableOf } from './reply-finish.js';
import { createWholeCharacters } from './whole-characters.js';

type BlockType = TextPart['type'];
type ProviderMetadata = NonNullable<TextPart['providerMetadata']>;
type DeltaFields = Pick<ChunkOf<'text_delta'>, 'block' | 'providerMetadata'>;

/** The texts and reasonings of a reply, by the provider's ids. */
export interface ReplyBlocks {
  start: (type: BlockType, id: string, metadata: unknown) => StreamChunk[];
  extend: (type: BlockType, id: string, delta: string, metadata: unknown) => StreamChunk[];
  end: (type: BlockType, id: string, metadata: unknown) => StreamChunk[];
  /** Prepares for a call: readers take a call for the end of every block that does not say that it stays open. */
  leave: (isHidden: boolean) => StreamChunk[];
  /** Not every provider sends the end of a block. */
  endAll: () => StreamChunk[];
}

interface Block {
  readonly type: BlockType;
  readonly id: string;
  /** Of the provider: it comes with the block's start, its deltas or its end, and the newest counts. */
  metadata: ProviderMetadata | undefined;
  /** The last part before the block. */
  readonly after: AssistantPart | undefined;
  /** Once readers have heard of it. */
  shown?: Shown | undefined;
  /** What the row has of a text that a call has ended for readers. */
  left?: TextPart;
}

interface Shown {
  /** Its number among the step's blocks of its type. */
  readonly n: number;
  /** What the row has of it. */
  part: TextPart;
  /** Readers were given its number, so that they keep it open until its end. */
  isNamed: boolean;
  /** What of the metadata readers have. */
  metadata: ProviderMetadata | undefined;
}

/**
 * Readers take each text for the continuation of the one before, as long as nothing else comes between. So a
 * block is named by its number only where blocks overlap, and its end is sent only where they would not know.
 */
export function createReplyBlocks(
  fold: Pick<ReplyFold, 'parts' | 'blockOf'>,
  emit: (
    type: BlockType,
    text: string,
    isComplete?: boolean,
    fields?: DeltaFields,
  ) => StreamChunk[],
): ReplyBlocks {
  /** In the order of their beginning. */
  const open = new Map<string, Block>();
  const counts = { text: 0, reasoning: 0 };
  const inTexts = createWholeCharacters();
  /** The one that readers take unnamed text of its type for the continuation of. */
  let current: Block | undefined;

  function begin(type: BlockType, id: string): Block {
    const block: Block = { type, id, metadata: undefined, after: fold.parts.at(-1) };
    open.set(keyOf(type, id), block);
    return block;
  }

  /** @param mustName by default where readers would take the chunk for another block's */
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

  /** The first that readers hear of a block. Pages have blocks in the order of their beginning. */
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
    // Some providers send the same with each delta.
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
      // Encrypted or redacted reasoning is kept for the provider, and stands where it began.
      const at = after === undefined ? 0 : fold.parts.indexOf(after) + 1;
      const { metadata: providerMetadata } = block;
      const unseen = { type, text: '', providerMetadata } as TextPart;
      if (providerMetadata !== undefined) fold.parts.splice(at, 0, unseen);
    } else if (type === 'reasoning' || shown.isNamed || hasNews(block)) {
      chunks.push(...write(block, '', END));
      // It was shown for the sake of the order alone.
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
      // Nearly always: more of the same.
      if (metadata === undefined && text !== '' && block?.shown && open.get(key) === block) {
        if (!hasNews(block)) return emit(type, text);
      }
      return extend(type, id, text, metadata);
    },
    end,
    leave: (isHidden) => {
      const chunks: StreamChunk[] = [];
      // Readers do not see that a call comes between this text and the next.
      const isSilent = isHidden && current?.type === 'text' && current.shown?.isNamed !== true;
      if (isSilent && current !== undefined) chunks.push(...write(current, '', END));
      for (const block of open.values()) {
        if (block.shown?.isNamed !== false) continue;
        // Text behind a call is shown behind it; reasoning stays whole, as its provider has signed it.
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

/** True if readers do not have its newest metadata. */
function hasNews({ metadata, shown }: Block): boolean {
  return metadata !== shown?.metadata;
}

const END = { isComplete: true };
