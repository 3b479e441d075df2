import { redis } from './host.js';
import { readRoot } from './root.js';
import type { Session } from './session.js';

/**
 * Leaves a stop record and tells the workers; the first record counts, but an abort replaces an
 * interrupt. `isSpeaking`: a model speaks, which then ends the run.
 */
export function requestStop(
  session: Session,
  mode: string,
  asked: string,
): { record: string; isSpeaking: boolean } {
  const { stop, run } = readRoot(session, ['stop', 'run']);
  const record = stop === undefined || mode === 'abort' ? asked : stop;
  if (record !== stop) redis.call('HSET', session.root, 'stop', record);
  redis.call('SPUBLISH', session.stop, run ?? '');
  return { record, isSpeaking: redis.call('SISMEMBER', session.busy, 'model') === 1 };
}
