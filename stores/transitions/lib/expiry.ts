import { redis } from './host.js';
import { readField } from './root.js';
import { isConversation, OWN_KEYS, sessionAt, type Session } from './session.js';

/** Keys beside a session's own that belong to the conversation; the stream has an expiry of its own. */
const COMMON = ['results', 'children', 'owners', 'erased'] as const;

/** Nothing of a session that is active or waits expires. */
export function persist(session: Session): void {
  redis.call('PERSIST', session.stream);
  if (redis.call('PTTL', session.root) < 0) return;
  for (const name of OWN_KEYS) redis.call('PERSIST', session[name]);
  for (const name of COMMON) redis.call('PERSIST', session[name]);
}

/** Arms the expiry of what has ended; a stream without a session goes as a whole. */
export function armExpiry(conversation: Session, hasSession: boolean): void {
  const { streamTtlSeconds, sessionTtlSeconds } = conversation.settings;
  const rest = hasSession ? sessionTtlSeconds : streamTtlSeconds;
  // The stream never outlives the sequence that numbers it.
  const stream = rest > 0 ? Math.min(rest, streamTtlSeconds) : streamTtlSeconds;
  redis.call('EXPIRE', conversation.stream, stream);
  if (rest === 0) return;
  expireOwn(conversation, rest);
  for (const name of COMMON) redis.call('EXPIRE', conversation[name], rest);
  expireFormerChildren(conversation, rest);
}

/**
 * A sub-agent's session is of no more use once the call that it carried out is settled: what it came
 * to stands in the row.
 */
export function expireChild(child: Session): void {
  expireOwn(child, child.settings.streamTtlSeconds);
}

function expireOwn(session: Session, seconds: number): void {
  for (const name of OWN_KEYS) redis.call('EXPIRE', session[name], seconds);
}

/** Sub-agents' sessions from before they expired by themselves; looked for once. */
function expireFormerChildren(conversation: Session, seconds: number): void {
  if (readField(conversation, 'childrenExpire') !== undefined) return;
  redis.call('HSET', conversation.root, 'childrenExpire', '1');
  for (const part of redis.call('HKEYS', conversation.children)) {
    expireOwn(sessionAt(conversation, part), seconds);
  }
}

/** What is written after the end expires with the session's other keys. */
export function expireWithRoot(session: Session): void {
  const left = redis.call('PTTL', session.root);
  if (left < 0) return;
  for (const name of OWN_KEYS) expireLikeRoot(session[name], left);
  if (!isConversation(session)) return;
  for (const name of COMMON) expireLikeRoot(session[name], left);
}

function expireLikeRoot(key: string, left: number): void {
  if (redis.call('PTTL', key) === -1) redis.call('PEXPIRE', key, left);
}
