import type { LogPosition } from '../contract/log.js';
import { fromJson } from './json.js';
import type { MemorySession } from './session.js';

/** Where a stream stands; undefined if there is none. */
export function toPosition(session: MemorySession | undefined): LogPosition | undefined {
  if (session?.stream === undefined) return undefined;
  const { stream, log, run, streamError } = session;
  const error = run?.error === undefined ? streamError : fromJson(run.error).message;
  return {
    status: stream,
    sequence: log.sequence,
    chunks: log.entries.filter(({ isControl }) => !isControl).length,
    turnStartSequence: run?.startSequence ?? 0,
    ...(error !== undefined && { error }),
  };
}
