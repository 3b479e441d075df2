import { redis } from './host.js';
import { num, readRoot, storeNow } from './root.js';
import type { Session } from './session.js';

/**
 * Leaves a stop record and tells the workers; the first record counts, but an abort replaces an
 * interrupt. `isSpeaking`: a model speaks, which then ends the run. One that waits for its provider
 * does not.
 */
export function requestStop(
  session: Session,
  mode: string,
  asked: string,
): { record: string; isSpeaking: boolean; isWaiting: boolean } {
  const { stop, run, waitsUntil } = readRoot(session, ['stop', 'run', 'waitsUntil']);
  const record = stop === undefined || mode === 'abort' ? asked : stop;
  if (record !== stop) redis.call('HSET', session.root, 'stop', record);
  redis.call('SPUBLISH', session.stop, run ?? '');
  const isAtWork = redis.call('SISMEMBER', session.busy, 'model') === 1;
  const isWaiting = isAtWork && num(waitsUntil) > storeNow();
  return { record, isSpeaking: isAtWork && !isWaiting, isWaiting };
}
