import { createHash } from 'node:crypto';
import type { Notice } from '../protocol/notices.js';
import { toStoredSessionId } from '../stores/record/stored-session-id.js';

/** Ids of notices are made of what they are about, so that no notice is made twice. Pure. */
export function toNoticeId(about: string): string {
  return `msg_${hash(about, 32)}`;
}

/** The id of a delivery, as stored. Pure. */
export function toDeliveryId({ id, sessionId, tenant }: Notice, receiver: string): string {
  return `${toDeliveryPrefix(sessionId, tenant)}${id.slice(4)}-${receiver}`;
}

/** How the ids of all deliveries about a conversation begin, by which they are erased. Pure. */
export function toDeliveryPrefix(sessionId = '', tenant?: string): string {
  return toStoredSessionId(`d-${hash(sessionId, 24)}-`, tenant);
}

/** A name of an owner that tells nothing but one from another. Pure. */
export function toWhose({ owner, tenant = '' }: { owner: string; tenant?: string }): string {
  return hash(JSON.stringify([tenant, owner]), 16);
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
