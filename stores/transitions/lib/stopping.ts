import { redis } from './host.js';
import { num, readRoot, setFields, storeNow } from './root.js';
import type { Session } from './session.js';

/**
 * Leaves a stop record and notifies the workers. The first record counts, but an abort replaces an
 * interrupt. `isSpeaking`: a model is streaming, and its step ends the run; a run that waits for
 * its provider has no such step.
 */
export function requestStop(
  session: Session,
  mode: string,
  requested: string,
): { record: string; isSpeaking: boolean; isWaiting: boolean } {
  const { stop, run, waitsUntil } = readRoot(session, ['stop', 'run', 'waitsUntil']);
  const record = stop === undefined || mode === 'abort' ? requested : stop;
  if (record !== stop) setFields(session, ['stop', record]);
  redis.call('SPUBLISH', session.stop, run ?? '');
  const isActive = redis.call('SISMEMBER', session.busy, 'model') === 1;
  const isWaiting = isActive && num(waitsUntil) > storeNow();
  return { record, isSpeaking: isActive && !isWaiting, isWaiting };
}
