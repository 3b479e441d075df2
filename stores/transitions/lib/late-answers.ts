import { redis } from './host.js';
import { expireWithRoot } from './expiry.js';
import { text } from './json.js';
import { readHead } from './rows.js';
import type { Session } from './session.js';

interface Lapsed {
  lapsed: string | undefined;
  lapsedAt: string | undefined;
}

/**
 * An answer to a call of an earlier step that timed out. The model already got the timeout as the
 * result; of a client's late answer it gets one hidden note. Undefined for any other call.
 */
export function takeLateAnswer(
  session: Session,
  id: string,
  call: Lapsed,
  source: string,
  answer: string,
): 'late' | 'expired' | undefined {
  const { lapsed } = call;
  if (lapsed === undefined || !isInTranscript(session, id, call.lapsedAt)) return undefined;
  const isPersons = source === 'approval' || source === 'client';
  if (isPersons && lapsed.startsWith('approval ')) return 'expired';
  if (source !== 'client') return undefined;
  if (lapsed === 'told') return 'late';
  if (!lapsed.startsWith('client ')) return undefined;
  redis.call('HSET', session.calls, `lapsed:${id}`, 'told');
  const name = lapsed.slice('client '.length);
  const sentence = `The call "${id}" of "${name}" was answered after its time limit. ${answer}`;
  const part = `{"type":"text","text":${text(sentence)}}`;
  const notice = `{"role":"user","id":${text(`late-${id}`)},"hidden":true,"parts":[${part}]}`;
  redis.call('RPUSH', session.notices, notice);
  expireWithRoot(session);
  return 'late';
}

/** False for a call whose row was dropped by a rewind. */
function isInTranscript(session: Session, id: string, at: string | undefined): boolean {
  if (at === undefined) return true;
  const row = redis.call('LINDEX', session.rows, at);
  return row !== false && readHead(row).toolCallId === id;
}
