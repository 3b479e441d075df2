import '../support/open-document.js';
import { pathToFileURL } from 'node:url';
import { clients, PLAYS_ALL } from '../clients/clients.js';
import type { ChatLibrary } from '../support/stock-chat.js';
import type { PageOptions } from './recorded/page.js';
import { readRecordedTurns, WITHDRAWN } from './recorded/recorded-turns.js';
import { reloadEverywhere } from './recorded/reload-everywhere.js';

const libraries = await Promise.all(
  clients.map(async ({ entry }) => {
    const { ai: library } = (await import(pathToFileURL(entry).href)) as { ai: ChatLibrary };
    const known = await library.uiMessageChunkSchema().validate?.({ type: 'reset-step' });
    return { library, knowsResets: known?.success === true };
  }),
);
const readers: PageOptions[] = libraries.flatMap(({ library, knowsResets }) =>
  knowsResets ? [{ library }, { library, profile: 'v7' as const }] : [{ library }],
);

/** Each turn meets each client, at so many moments; with all versions, at every moment. */
const MOMENTS = PLAYS_ALL ? Infinity : 20;
const STARTS = PLAYS_ALL ? readers.map((_, index) => index) : [0];
const TURNS = readRecordedTurns().flatMap((turn, index) =>
  STARTS.map((start) => ({ ...turn, from: index + start })),
);

it.each(TURNS)(
  'a page that is loaded at any point of: $name, clients in turn from $from on',
  async ({ name, changes, from }) => {
    const { pages, cut } = await reloadEverywhere(changes, readers, from, MOMENTS);
    expect(pages).toBeGreaterThan(2);
    expect(cut > 0).toBe(WITHDRAWN.includes(name));
  },
);
