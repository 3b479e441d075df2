import { createHash } from 'node:crypto';
import type { EndRef, Notice } from '../protocol/notices.js';
import type { OperatorReceivers, ReceiverTestReply } from '../protocol/operator.js';
import type { RunNotices } from '../protocol/run.js';
import { toStoredSessionId } from '../store/record/stored-session-id.js';

/**
 * Notices to receivers: a workflow each, which fails where the notice is not taken for good. Ids are
 * those under which deliveries are stored.
 */
export interface Deliveries {
  /** What workflows of runs start notices for. */
  readonly notify: RunNotices | undefined;
  readonly receivers: readonly (OperatorReceivers['receivers'][number] & {
    /** Only what happens in conversations of this tenant; null: of none. */
    tenant?: string | null | undefined;
  })[];
  /**
   * Starts one delivery to each receiver that wants the notice; the same notice once.
   *
   * @param owner of the conversation that it is about
   */
  announce: (notice: Notice, owner?: string) => Promise<void>;
  /** Starts the notice of the end of a run whose workflow is gone; the same end once. */
  announceEnd: (end: EndRef) => Promise<void>;
  /** Sends a test, which is tried for a short time only, and waits for what comes of it. */
  test: (receiver: string, tenant: string | undefined) => Promise<ReceiverTestReply>;
}

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
