import { formatInt, redis } from './host.js';
import { text } from './json.js';
import { isConversation, OWN_KEYS, type Session } from './session.js';

/** Keys of the conversation that sub-agents' sessions share; the stream has its own expiry. */
const COMMON = ['results', 'children', 'owners', 'erased', 'files', 'fileBytes'] as const;

/** Clears all expiries: nothing of a session that is active or waiting expires. */
export function persist(session: Session): void {
  redis.call('PERSIST', session.stream);
  if (redis.call('PTTL', session.root) < 0) return;
  for (const name of OWN_KEYS) redis.call('PERSIST', session[name]);
  for (const name of COMMON) redis.call('PERSIST', session[name]);
}

/** Files that its owner added before the session was created stay with it; those of others go. */
export function claimFiles(session: Session, owner: string, tenant: string): void {
  const whose = redis.call('HGET', session.files, 'whose');
  if (whose === false) return;
  const isOwn = whose === filesOwner(owner, tenant);
  for (const key of [session.files, session.fileBytes]) {
    redis.call(isOwn ? 'PERSIST' : 'UNLINK', key);
  }
}

/** Whose files they are, as their hash notes it. */
export function filesOwner(owner: string, tenant: string): string {
  return `${text(owner)} ${text(tenant)}`;
}

/** Arms the expiry of what has ended; a stream without a session expires as a whole. */
export function armExpiry(conversation: Session, hasSession: boolean): void {
  const { streamTtlSeconds, sessionTtlSeconds } = conversation.settings;
  const rest = hasSession ? sessionTtlSeconds : streamTtlSeconds;
  // The stream never outlives the root, which holds its sequence.
  const seconds = rest > 0 ? Math.min(rest, streamTtlSeconds) : streamTtlSeconds;
  redis.call('EXPIRE', conversation.stream, formatInt(seconds));
  if (rest === 0) return;
  expireOwn(conversation, rest);
  for (const name of COMMON) redis.call('EXPIRE', conversation[name], formatInt(rest));
}

/**
 * Once its call is settled, a sub-agent's session is no longer needed: its result is in the row of
 * the call.
 */
export function expireChild(child: Session): void {
  expireOwn(child, child.settings.streamTtlSeconds);
}

function expireOwn(session: Session, seconds: number): void {
  const text = formatInt(seconds);
  for (const name of OWN_KEYS) redis.call('EXPIRE', session[name], text);
}

/** Keys written after the end get the same expiry as the session's other keys. */
export function expireWithRoot(session: Session): void {
  const left = redis.call('PTTL', session.root);
  if (left < 0) return;
  for (const name of OWN_KEYS) expireLikeRoot(session[name], left);
  if (!isConversation(session)) return;
  for (const name of COMMON) expireLikeRoot(session[name], left);
}

function expireLikeRoot(key: string, left: number): void {
  if (redis.call('PTTL', key) === -1) redis.call('PEXPIRE', key, formatInt(left));
}
