import { HelixError } from '../../protocol/errors.js';
import { isStoredSessionId, isStreamId } from '../../protocol/ids.js';

/** @throws HelixError `validation_error` unless it is the id of a session or of a sub-agent's */
export function checkStreamId(streamId: unknown): asserts streamId is string {
  if (!isStreamId(streamId)) throw invalidId('stream');
}

/** @throws HelixError `validation_error` unless it is the id of a conversation */
export function checkSessionId(sessionId: unknown): asserts sessionId is string {
  if (!isStoredSessionId(sessionId)) throw invalidId('session');
}

function invalidId(of: string): HelixError {
  const what = '1 to 128 letters, digits, hyphens and underscores';
  return new HelixError('validation_error', `A ${of} id has ${what}.`);
}

/** @throws HelixError `validation_error` unless it is a whole number from 0 */
export function checkCount(name: string, value: unknown): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  throw new HelixError('validation_error', `${name} must be a whole number from 0.`);
}
