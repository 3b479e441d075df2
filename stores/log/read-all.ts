import { isControlMessage } from '../../protocol/control-guard.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StreamLog } from '../contract/log.js';
import type { StoredChunk } from './stream-manager.js';

/** Reads the stored entries after a sequence, page by page. */
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
    if (page.length < LIMITS.replayPage) return;
    cursor = last.sequence;
  }
}

/** Reads the stored chunks after a sequence. */
export async function readChunks(
  log: Pick<StreamLog, 'read'>,
  streamId: string,
  fromSequence: number,
): Promise<StoredChunk[]> {
  const chunks: StoredChunk[] = [];
  for await (const page of readPages(log, streamId, fromSequence)) {
    chunks.push(...page.flatMap((entry) => toStoredChunk(entry) ?? []));
  }
  return chunks;
}

/** Undefined for a control message. */
export function toStoredChunk({ sequence, message }: LogEntry): StoredChunk | undefined {
  return isControlMessage(message) ? undefined : { chunk: message, sequence };
}
