import { describe, expect, it } from '@jest/globals';
import { MAJORS } from '../support/stock-chat.js';
import { describeReloads } from './recorded/reload-cases.js';
import { readRecordedTurns } from './recorded/recorded-turns.js';
import { reloadEverywhere } from './recorded/reload-everywhere.js';

await describeReloads('ai 7');

describe('a page of the v7 profile that is loaded at any point', () => {
  const [, [, library]] = MAJORS;
  it.each(readRecordedTurns())('of: $name', async ({ transitions }) => {
    // It learns what is withdrawn, and keeps its connection.
    const { cut } = await reloadEverywhere(transitions, { library, profile: 'v7' });
    expect(cut).toBe(0);
  });
});
