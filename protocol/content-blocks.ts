import type { ChunkOf, ShownMetadata } from './chunk.js';

/** What becomes of a block, in the words of the AI SDK. */
export type BlockPart = { id: string; providerMetadata?: ShownMetadata | undefined } & (
  | { type: `${BlockKind}-start` | `${BlockKind}-end` }
  | { type: `${BlockKind}-delta`; delta: string }
);

/** A list that takes such parts. */
interface BlockParts {
  push: (part: BlockPart) => unknown;
}

/** Id of a block: the same live, on replay and in history. */
export function formatBlockId(kind: BlockKind, step: number, n: number): string {
  return `${kind === 'text' ? 't' : 'r'}${String(step)}-${String(n)}`;
}

type BlockKind = 'text' | 'reasoning';
type OfBlock = Pick<ChunkOf<'text_delta'>, 'block' | 'isComplete' | 'providerMetadata'>;
interface Block {
  kind: BlockKind;
  id: string;
  /** True for one that was named: what comes beside it leaves it open. */
  isKept: boolean;
}

/** The text and reasoning blocks of one step; each has a predictable id. */
export class ContentBlocks {
  #step = 0;
  #counts = { text: 0, reasoning: 0 };
  /** In the order of their beginning. */
  #open: Block[] = [];
  /** The one that content without a name continues, if it is of its kind. */
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

  /** A call comes: what was not named is over. */
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
