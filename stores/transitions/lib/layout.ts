import { toNumber } from './host.js';
import { readField, setFields } from './root.js';
import type { Session } from './session.js';

/**
 * Layout of the records that this build reads and writes, as it is stored. A change that another
 * build would misread raises the number.
 */
export const RECORD_LAYOUT = '1';

export function isNewer(layout: string): boolean {
  return layout !== RECORD_LAYOUT && toNumber(layout) > toNumber(RECORD_LAYOUT);
}

/**
 * False if a newer build has laid out the record of a conversation, which its sub-agents' sessions
 * share. A record of an older layout has this build's from now on.
 */
export function mayChange({ conversation }: Session): boolean {
  const layout = readField(conversation, 'layout');
  if (layout === undefined || layout === RECORD_LAYOUT) return true;
  if (isNewer(layout)) return false;
  setFields(conversation, ['layout', RECORD_LAYOUT]);
  return true;
}
