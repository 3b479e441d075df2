import type { StreamChunk } from '../protocol/chunk.js';
import { LIMITS } from '../protocol/limits.js';
import { joinDeltas } from '../protocol/combine-streams.js';
import type { Writer, AppendResult } from '../store/contract/log.js';
import type { StreamManager } from '../store/log/stream-manager.js';

/** Reason that an attempt lost its writer; `rewound`: the store became older than the writer. */
export type WriterLoss = 'fenced' | 'superseded' | 'rewound';

/** Writes chunks under a claim, one append at a time; later chunks join the next append. */
export interface ChunkWriter {
  /** Queues chunks; never blocks. */
  push: (chunks: readonly StreamChunk[]) => void;
  /** Resolves when the queue has room; waiting for it between chunks bounds the memory. */
  room: () => Promise<void> | undefined;
  /** Resolves when all pushed chunks are stored. @throws the error of a failed write */
  flush: () => Promise<void>;
  /** Set once the store refused a write because this attempt no longer owns the writer. */
  lost: () => WriterLoss | undefined;
  /** Highest sequence that the store has returned. */
  known: () => number;
}

/** Queue length above which the producer waits. */
const HIGH_WATER = 2_000;

export function createChunkWriter(
  streamManager: Pick<StreamManager, 'append'>,
  writer: Writer,
  cut: (reason: 'stop' | WriterLoss) => void,
  claimedAt = 0,
): ChunkWriter {
  let queue: StreamChunk[] = [];
  let batch = 0;
  let known = claimedAt;
  let isPumping = false;
  let pumped: Promise<void> = Promise.resolve();
  let failure: Error | undefined;
  let loss: WriterLoss | undefined;

  async function pump(): Promise<void> {
    isPumping = true;
    try {
      while (queue.length > 0 && loss === undefined) {
        const [taken, rest] = takeBatch(queue);
        queue = rest;
        batch += 1;
        const reply = await streamManager.append(writer, batch, taken, known);
        if (reply.kind === 'appended') {
          known = reply.sequence;
          if (reply.stopRequested) cut('stop');
        } else {
          loss = toLoss(reply.kind);
          cut(loss);
        }
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    // Set synchronously, so a push before the promise settles starts a new loop.
    isPumping = false;
  }

  return {
    push: (chunks) => {
      // After a failed batch the store would see a gap and report it as a loss of the writer.
      if (loss !== undefined || failure !== undefined || chunks.length === 0) return;
      for (const chunk of chunks) queue.push(...splitOversized(chunk));
      if (!isPumping) pumped = pump();
    },
    room: () => (isPumping && queue.length > HIGH_WATER ? pumped : undefined),
    flush: async () => {
      while (isPumping) await pumped;
      if (failure !== undefined) throw failure;
    },
    lost: () => loss,
    known: () => known,
  };
}

/** A stream pauses only when the run's writers are done, so the attempt was superseded. */
function toLoss(kind: Exclude<AppendResult['kind'], 'appended'>): WriterLoss {
  return kind === 'closed' ? 'superseded' : kind;
}

/** Takes as many chunks as fit into one append and merges adjacent deltas of one block. Pure. */
export function takeBatch(queue: readonly StreamChunk[]): [StreamChunk[], StreamChunk[]] {
  const taken: StreamChunk[] = [];
  let bytes = 0;
  let at = 0;
  for (const chunk of queue) {
    const size = roughBytes(chunk);
    if (taken.length > 0 && bytes + size > LIMITS.appendBytes) break;
    bytes += size;
    const last = taken.at(-1);
    const joined = last && joinDeltas(last, chunk);
    if (joined === undefined) taken.push(chunk);
    else taken[taken.length - 1] = joined;
    at += 1;
  }
  return [taken, queue.slice(at)];
}

function roughBytes(chunk: StreamChunk): number {
  if (chunk.type === 'tool_arg_stream_delta') return 160 + chunk.delta.length * 3;
  if (chunk.type !== 'text_delta' && chunk.type !== 'thinking') return JSON.stringify(chunk).length;
  const { providerMetadata } = chunk;
  const more = providerMetadata === undefined ? 0 : JSON.stringify(providerMetadata).length;
  return 160 + (chunk.type === 'thinking' ? chunk.content : chunk.delta).length * 3 + more;
}

/** UTF-16 units; even if each becomes six bytes of JSON, a piece stays below a chunk's limit. */
const MAX_UNITS = 32 * 1024;

/** Splits a delta that is too large for the store into several with the same text. Pure. */
export function splitOversized(chunk: StreamChunk): StreamChunk[] {
  switch (chunk.type) {
    case 'text_delta':
    case 'tool_arg_stream_delta':
      if (chunk.delta.length <= MAX_UNITS) return [chunk];
      return pieces(chunk.delta).map((delta) => ({ ...chunk, delta }));
    case 'thinking': {
      if (chunk.content.length <= MAX_UNITS) return [chunk];
      const parts = pieces(chunk.content);
      // Only the last piece may close the block.
      return parts.map((content, at) => ({
        ...chunk,
        content,
        isComplete: chunk.isComplete && at === parts.length - 1,
      }));
    }
    default:
      return [chunk];
  }
}

/** Splits a text without separating surrogate pairs. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_UNITS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}
