import type { StreamManager } from '../../../store/log/stream-manager.js';

/** A log that has lost its entries up to and including this one. */
export function withoutLog<Log extends Pick<StreamManager, 'read'>>(log: Log, upTo: number): Log {
  const read: Log['read'] = (sessionId, from, ...rest) =>
    log.read(sessionId, Math.max(from, upTo), ...rest);
  return { ...log, read, keptPages: undefined };
}
