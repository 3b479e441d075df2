import { createHash } from 'node:crypto';
import type { EndRef, Notice } from '../protocol/notices.js';
import type { OperatorReceivers, ReceiverTestReply } from '../protocol/operator.js';
import type { RunNotices } from '../protocol/run.js';
import { toStoredSessionId } from '../store/record/stored-session-id.js';

/**
 * Notices to receivers, each with a workflow that fails if the notice is refused for good. Ids are
 * those of stored deliveries.
 */
export interface Deliveries {
  /** Events for which the runs' workflows start notices. */
  readonly notify: RunNotices | undefined;
  readonly receivers: readonly (OperatorReceivers['receivers'][number] & {
    /** Limits notices to conversations of this tenant; null: of no tenant. */
    tenant?: string | null | undefined;
  })[];
  /**
   * Starts one delivery to each receiver that wants the notice about this owner, once per notice.
   */
  announce: (notice: Notice, owner?: string) => Promise<void>;
  /** Starts the notice of the end of a run whose workflow is gone, once per end. */
  announceEnd: (end: EndRef) => Promise<void>;
  /** Sends a test, which is retried for a short time only, and waits for the outcome. */
  test: (receiver: string, tenant: string | undefined) => Promise<ReceiverTestReply>;
}

/** Derives a notice's id from its subject, so that no notice is made twice. Pure. */
export function toNoticeId(about: string): string {
  return `msg_${hash(about, 32)}`;
}

export function toDeliveryId({ id, sessionId, tenant }: Notice, receiver: string): string {
  return `${toDeliveryPrefix(sessionId, tenant)}${id.slice(4)}-${receiver}`;
}

/** Formats the common prefix of a conversation's deliveries, by which they are erased. Pure. */
export function toDeliveryPrefix(sessionId = '', tenant?: string): string {
  return toStoredSessionId(`d-${hash(sessionId, 24)}-`, tenant);
}

export function toWhose({ owner, tenant = '' }: { owner: string; tenant?: string }): string {
  return hash(JSON.stringify([tenant, owner]), 16);
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
