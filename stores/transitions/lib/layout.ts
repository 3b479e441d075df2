import { formatInt, toNumber } from './host.js';
import { readField, setFields } from './root.js';
import type { Session } from './session.js';

/**
 * Layout of the records that this release can read. An addition that an earlier release would
 * misread is written only while every living process can read it.
 *
 * 1: the layout of 0.2.0, whose records do not name it · 2: large results of runs are stored apart,
 * the ids of tenants' sessions include the tenant, and deltas have a short form · 3: calls have a
 * journal. Only conversations in which a tool records steps or waits have it, whatever the setting: an
 * earlier release would execute such a call again from its beginning.
 */
export const RECORD_LAYOUT = 3;
export const FIRST_LAYOUT = 1;
const WITH_JOURNAL = 3;

/** Layout of a conversation's record; it also applies to the sessions of its sub-agents. */
export function layoutOf({ conversation }: Session): number {
  const layout = readField(conversation, 'layout');
  return layout === undefined ? FIRST_LAYOUT : toNumber(layout);
}

/** Marks the record: it now holds more than earlier releases can read. */
export function noteLayout({ conversation }: Session): void {
  setFields(conversation, ['layout', formatInt(conversation.settings.layout)]);
}

/** Marks the record: a call of it has a journal, which earlier releases do not read. */
export function noteJournal({ conversation }: Session): void {
  const { settings } = conversation;
  settings.layout = Math.max(settings.layout, WITH_JOURNAL);
  setFields(conversation, ['layout', formatInt(settings.layout)]);
}
