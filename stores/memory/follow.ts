import type { LogEntry } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { readBatches, type MemoryLog } from './log.js';
import type { MemoryData } from './memory-data.js';
import { findSession, writtenEvent } from './session-access.js';

/**
 * Entries after a sequence, then live. A follower keeps a position and nothing else: it is woken,
 * and reads the log.
 */
export async function* follow(
  data: MemoryData,
  streamId: string,
  fromSequence: number,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[], void, undefined> {
  let log = findSession(data, streamId)?.log;
  let cursor = fromSequence;
  let wake: (() => void) | undefined;
  const onWritten = (written: MemoryLog): void => {
    log ??= written;
    wake?.();
  };
  const onAbort = (): void => wake?.();
  data.events.on(writtenEvent(streamId), onWritten);
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (cursor > (log?.sequence ?? 0)) throw rewound();
      const page = log === undefined ? [] : readBatches(log, cursor, LIMITS.replayPage);
      const last = page.at(-1);
      if (last !== undefined) {
        cursor = last.sequence;
        yield page;
        continue;
      }
      const current = findSession(data, streamId)?.log;
      if (current !== log) {
        // Erased, and perhaps begun anew: sequences count from 1 again.
        if (cursor > 0) throw rewound();
        log = current;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
    }
  } finally {
    data.events.off(writtenEvent(streamId), onWritten);
    signal.removeEventListener('abort', onAbort);
  }
}

function rewound(): HelixError {
  return new HelixError('rewound', 'The stream is older than what was read of it.');
}
