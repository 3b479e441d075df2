import { isControlMessage } from '../../protocol/chunk-guards.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { StreamTruncatedError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StreamStatus } from '../../protocol/run.js';
import type { LogPosition, StreamLog } from '../contract/log.js';
import type { StoredChunk } from './stream-manager.js';

/** Tells a reader that chunks were removed, since it may have buffered some of them. */
export type Truncate = (atStep: number, atSequence: number, lastRemoved: number) => void;

/** This process's readers by stream, which learn of a truncation at once. Others learn of it from the log. */
export type Readers = Map<string, Set<Truncate>>;

/**
 * Reads the chunks of a stream after a sequence. A paused or ended stream is read up to its current position. On an
 * active stream, pauses and ends before that position are skipped, and the first one after it ends the reader.
 *
 * @param position of the stream when the reader was created
 * @returns what the reader reports, kept up to date while its chunks are read
 */
export function openReader(
  log: StreamLog,
  readers: Readers,
  streamId: string,
  {
    position,
    fromSequence,
    signal,
  }: { position: LogPosition; fromSequence: number; signal?: AbortSignal | undefined },
) {
  const abort = new AbortController();
  let truncation: StreamTruncatedError | undefined;
  const truncate: Truncate = (atStep, atSequence, lastRemoved) => {
    if (lastRemoved <= fromSequence) return;
    truncation = new StreamTruncatedError(streamId, atStep, atSequence);
  };
  const leave = (): void => {
    abort.abort();
    const present = readers.get(streamId);
    if (present?.delete(truncate) === true && present.size === 0) readers.delete(streamId);
  };
  const state = {
    status: 'active' as StreamStatus,
    currentSequence: fromSequence,
    totalChunks: position.chunks,
    error: undefined as string | undefined,
    close: async (): Promise<void> => {
      leave();
      await Promise.resolve();
    },
  };

  async function* read(): AsyncGenerator<StoredChunk, void, undefined> {
    readers.set(streamId, (readers.get(streamId) ?? new Set()).add(truncate));
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    const entries =
      position.status === 'active' ? log.follow(streamId, fromSequence, abort.signal) : resting();
    try {
      for await (const page of entries) {
        for (const entry of page) {
          if (abort.signal.aborted) return;
          if (truncation !== undefined) throw truncation;
          const stored = toStoredChunk(entry);
          if (stored !== undefined) {
            state.currentSequence = entry.sequence;
            yield stored;
          }
          if (isLast(entry)) return;
        }
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      leave();
    }
  }

  async function* resting(): AsyncGenerator<LogEntry[], void, undefined> {
    const isWithin = ({ sequence }: LogEntry): boolean => sequence <= position.sequence;
    for await (const page of readPages(log, streamId, fromSequence)) {
      yield page.filter((each) => isWithin(each) || each.message.type === 'stream_truncated');
      if (!page.every(isWithin)) break;
    }
    state.status = position.status;
    state.error = position.error;
  }

  /** Updates the status from a log entry. Returns true if the reader ends here. */
  function isLast({ sequence, writer, message }: LogEntry): boolean {
    if (sequence <= position.sequence) return false;
    switch (message.type) {
      case 'stream_truncated':
        truncate(message.truncatedAtStep, message.atSequence, message.lastRemoved);
        if (truncation !== undefined) throw truncation;
        return false;
      case 'stream_end':
        state.status =
          message.status === 'failed' || message.status === 'aborted' ? 'failed' : 'ended';
        state.error = message.error;
        return true;
      case 'stream_status':
        if (message.status !== 'paused') return false;
        state.status = 'paused';
        return true;
      case 'run_paused':
        // The store itself wrote it, so the run paused, not only one of its sub-agents.
        if (writer !== '') return false;
        state.status = 'paused';
        return true;
      default:
        return false;
    }
  }

  return { state, stored: read() };
}

/** Reads the stored chunks after a sequence. */
export async function* readChunks(
  log: Pick<StreamLog, 'read'>,
  streamId: string,
  fromSequence: number,
): AsyncGenerator<StoredChunk, void, undefined> {
  for await (const page of readPages(log, streamId, fromSequence)) {
    yield* page.flatMap((entry) => toStoredChunk(entry) ?? []);
  }
}

/** Reads the entries after a sequence up to the present end of the log. */
export async function* readPages(
  log: Pick<StreamLog, 'read'>,
  streamId: string,
  fromSequence: number,
): AsyncGenerator<LogEntry[], void, undefined> {
  let cursor = fromSequence;
  for (;;) {
    const page = await log.read(streamId, cursor, LIMITS.replayPage);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    cursor = last.sequence;
  }
}

/** Returns undefined for a control message. */
function toStoredChunk({ sequence, message }: LogEntry): StoredChunk | undefined {
  return isControlMessage(message) ? undefined : { chunk: message, sequence };
}
