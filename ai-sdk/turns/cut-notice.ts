import { setTimeout } from 'node:timers/promises';
import { toControlPart } from '../parts/content-parts.js';
import { formatSse } from '../parts/sse.js';
import { SlowReaderError, StreamBrokenError } from '../parts/stream-broken-error.js';
import type { UIStreamPart } from '../parts/ui-stream-part.js';

/** A reader that is told in the same moment in which its connection breaks may be given the break alone. */
const CUT_AFTER_MS = 100;

/**
 * What a reader is told before its connection is cut, so that its page loads the conversation again
 * at once: transient, and without an id, since it is no place to resume after. Nothing for a reader
 * that takes nothing.
 */
export async function* createCutNotice(
  error: unknown,
  position: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  if (signal.aborted || error instanceof SlowReaderError) return;
  const told = error instanceof StreamBrokenError ? error.parts : [];
  const isTold = told.some(({ type }) => type === 'data-stream-resync');
  const parts = isTold ? told : [...told, toResync(position)];
  yield parts.map((part) => formatSse(part)).join('');
  await setTimeout(CUT_AFTER_MS, undefined, { signal }).catch(() => undefined);
}

/** For replies that break off without an entry in the log that says so. */
function toResync(fromSequence: number): UIStreamPart {
  const base = { agentId: '', agentType: '', timestamp: 0, step: 0 };
  const nothing = { checkpointId: '', stepCount: 0, messageCount: 0 };
  const resync = { ...base, ...nothing, fromSequence, reason: 'crash_recovery' } as const;
  return toControlPart({ type: 'stream_resync', ...resync });
}
