import type { StreamChunk } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import { checkCount, checkStreamId } from '../record/checked-ids.js';
import type { LogPosition, StreamLog, StreamMark } from '../contract/log.js';
import type { StreamManager } from './stream-manager.js';
import { openReader, readChunks, type Readers } from './stream-reader.js';
import { openStreamWriter } from './stream-writer.js';

/** Creates the Helix stream manager on any log. */
export function createStreamManager(log: StreamLog): StreamManager {
  const readers: Readers = new Map();

  async function mark(streamId: string, to: StreamMark): Promise<void> {
    checkStreamId(streamId);
    const { kind } = await log.mark(streamId, to, Date.now());
    if (kind === 'owned') {
      throw new HelixError('stream_owned', 'A run is active: it pauses and ends its own stream.');
    }
    if (kind === 'not_found') throw noStream();
  }

  async function inspect(streamId: string): Promise<LogPosition | undefined> {
    checkStreamId(streamId);
    return log.inspect(streamId);
  }

  async function chunksFrom(streamId: string, fromSequence: number) {
    checkStreamId(streamId);
    checkCount('sequence', fromSequence);
    const chunks: StreamChunk[] = [];
    for await (const { chunk } of readChunks(log, streamId, fromSequence)) chunks.push(chunk);
    return chunks;
  }

  return {
    ...log,
    createWriter: (...args) => openStreamWriter(log, ...args),
    createReader: async (streamId, { signal } = {}) => {
      const position = await inspect(streamId);
      if (position === undefined) throw noStream();
      const opened = openReader(log, readers, streamId, { position, fromSequence: 0, signal });
      return Object.assign(opened.state, {
        [Symbol.asyncIterator]: async function* () {
          for await (const { chunk } of opened.stored) yield chunk;
        },
      });
    },
    createResumableReader: async (streamId, { fromSequence = 0, signal } = {}) => {
      checkCount('fromSequence', fromSequence);
      const position = await inspect(streamId);
      if (position === undefined || position.status === 'failed') return null;
      if (fromSequence > position.sequence) {
        throw new HelixError('rewound', 'This stream has not reached that sequence.');
      }
      const opened = openReader(log, readers, streamId, { position, fromSequence, signal });
      return Object.assign(opened.state, { [Symbol.asyncIterator]: () => opened.stored });
    },
    endStream: (streamId, finalOutput) => mark(streamId, { status: 'ended', finalOutput }),
    failStream: (streamId, error) =>
      mark(streamId, { status: 'failed', error: startOf(error, LIMITS.errorTextBytes / 4) }),
    pauseStream: (streamId) => mark(streamId, { status: 'paused' }),
    resumeStream: (streamId) => mark(streamId, { status: 'active' }),
    getStreamInfo: async (streamId) => {
      const position = await inspect(streamId);
      if (position === undefined) return null;
      const { status, chunks, sequence, error } = position;
      return { status, totalChunks: chunks, latestSequence: sequence, error };
    },
    getAllChunks: (streamId) => chunksFrom(streamId, 0),
    getChunksFromStep: async (streamId, step) => {
      checkCount('step', step);
      // Step numbers restart in each turn.
      const position = await inspect(streamId);
      const chunks = await chunksFrom(streamId, position?.turnStartSequence ?? 0);
      return chunks.filter((chunk) => chunk.step >= step);
    },
    getChunksFromSequence: chunksFrom,
    cleanupToStep: async (streamId, step, options = {}) => {
      checkStreamId(streamId);
      checkCount('step', step);
      if (options.minSequence !== undefined) checkCount('minSequence', options.minSequence);
      const result = await log.truncate(streamId, step, options, Date.now());
      const { removed, atSequence, lastRemoved } = result;
      if (removed > 0) {
        for (const truncate of readers.get(streamId) ?? []) truncate(step, atSequence, lastRemoved);
      }
      return removed;
    },
  };
}

function noStream(): HelixError {
  return new HelixError('not_found', 'This stream does not exist.');
}
