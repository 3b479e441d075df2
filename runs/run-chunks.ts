import type { StreamChunk } from '../protocol/chunk.js';
import { HelixError } from '../protocol/errors.js';
import type { StreamStatus } from '../protocol/run.js';
import type { Store } from '../store/contract/store.js';
import type { StoredChunk, StreamManager } from '../store/log/stream-manager.js';

export interface RunStream extends AsyncIterable<StreamChunk> {
  /** Sequence of the last chunk, from which to continue after a broken connection. */
  readonly currentSequence: number;
  /** Status at the end of the stream, `active` before. */
  readonly status: StreamStatus;
}

interface ChunkDeps {
  store: Pick<Store, 'runs'>;
  streamManager: StreamManager;
}

interface ChunkOptions {
  fromSequence?: number;
  signal?: AbortSignal;
}

/** Reads the chunks of one run from its session's stream. */
export function readRunChunks(
  deps: ChunkDeps,
  sessionId: string,
  runId: string,
  { fromSequence, signal }: ChunkOptions,
): RunStream {
  let currentSequence = fromSequence ?? 0;
  let status: StreamStatus = 'active';

  async function* chunks(): AsyncGenerator<StreamChunk, void, undefined> {
    const span = await findSpan(deps.store, sessionId, runId);
    currentSequence = Math.max(fromSequence ?? 0, span.after);
    const reader = await deps.streamManager.createResumableReader(sessionId, {
      fromSequence: currentSequence,
      signal,
    });
    const source = reader ?? failedChunks(deps.streamManager, sessionId, currentSequence);
    for await (const { chunk, sequence } of source) {
      // Later chunks are another run's.
      if (span.until !== undefined && sequence > span.until) break;
      currentSequence = sequence;
      yield chunk;
    }
    status = reader === null ? 'failed' : span.until === undefined ? reader.status : 'ended';
  }

  return {
    get currentSequence() {
      return currentSequence;
    },
    get status() {
      return status;
    },
    [Symbol.asyncIterator]: chunks,
  };
}

/** Finds the sequence before a run's chunks and, if another run follows, their last one. */
async function findSpan(
  store: ChunkDeps['store'],
  sessionId: string,
  runId: string,
): Promise<{ after: number; until?: number }> {
  const runs = await store.runs.list(sessionId);
  const at = runs.findIndex((run) => run.runId === runId);
  const run = runs[at];
  if (run === undefined) throw new HelixError('not_found', 'There is no such run.');
  const next = runs.slice(at + 1).find(({ startSequence }) => startSequence > run.startSequence);
  return {
    after: run.startSequence,
    until: next?.startSequence,
  };
}

/** Reads the chunks of a failed stream, which has no reader. */
async function* failedChunks(
  streamManager: StreamManager,
  streamId: string,
  fromSequence: number,
): AsyncGenerator<StoredChunk> {
  const info = await streamManager.getStreamInfo(streamId);
  if (info === null) throw new HelixError('not_found', 'There is no such stream.');
  let sequence = fromSequence;
  for (;;) {
    const page = await streamManager.read(streamId, sequence, 200);
    if (page.length === 0) return;
    for (const entry of page) {
      sequence = entry.sequence;
      const { message } = entry;
      if ('agentId' in message) yield { chunk: message, sequence };
    }
  }
}
