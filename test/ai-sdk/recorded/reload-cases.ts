import { describe, expect, it } from '@jest/globals';
import { loadClientLibraries } from './client-libraries.js';
import { readRecordedTurns } from './recorded-turns.js';
import { reloadEverywhere } from './reload-everywhere.js';

/** Turns of which a part was withdrawn after it had been sent. */
const WITHDRAWN = ['attempt-taken-over', 'provider-fails-once'];

/** Reloads pages of every version of one major everywhere; a file each, so that they run side by side. */
export async function describeReloads(major: 'ai 6' | 'ai 7'): Promise<void> {
  const libraries = await loadClientLibraries();
  const ofMajor = libraries.filter(({ name }) => name.startsWith(`${major}.`));
  describe.each(ofMajor)('$name: a page that is loaded at any point', ({ library }) => {
    const check = library === undefined ? it.skip : it;
    check.each(readRecordedTurns())('of: $name', async ({ name, transitions }) => {
      if (library === undefined) return;
      const { pages, cut } = await reloadEverywhere(transitions, { library });
      expect(pages).toBeGreaterThan(2);
      expect(cut > 0).toBe(WITHDRAWN.includes(name));
    });
  });
}
