import { describe, expect, it } from '@jest/globals';
import { MAJORS } from '../support/stock-chat.js';
import { readRecordedTurns } from './recorded/recorded-turns.js';
import { reloadEverywhere } from './recorded/reload-everywhere.js';

/** Turns of which a part was withdrawn after it had been told. */
const WITHDRAWN = ['attempt-taken-over', 'provider-fails-once'];

describe.each(MAJORS)('%s: a page that is loaded at any point', (_name, library) => {
  it.each(readRecordedTurns())('of: $name', async ({ name, transitions }) => {
    const { pages, cut } = await reloadEverywhere(transitions, { library });
    expect(pages).toBeGreaterThan(5);
    expect(cut > 0).toBe(WITHDRAWN.includes(name));
  });
});
