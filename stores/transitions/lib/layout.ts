import { redis, toNumber } from './host.js';
import { readField } from './root.js';
import type { Session } from './session.js';

/**
 * Layout of the records that this release reads. What it adds to a record that an earlier release
 * misreads is written only while every living process reads it.
 *
 * 1: that of 0.2.0, whose records do not name it · 2: what a run came to is kept apart if it is large,
 * and the ids of tenants' sessions tell the tenants apart.
 */
export const RECORD_LAYOUT = 2;
export const FIRST_LAYOUT = 1;

/** Layout of a conversation's record; that of its sub-agents' sessions is the same. */
export function layoutOf({ conversation }: Session): number {
  const layout = readField(conversation, 'layout');
  return layout === undefined ? FIRST_LAYOUT : toNumber(layout);
}

/** What was written is more than earlier releases read. */
export function noteLayout({ conversation }: Session): void {
  redis.call('HSET', conversation.root, 'layout', conversation.settings.layout);
}
