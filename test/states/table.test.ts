import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { toTable } from './table.js';

const file = fileURLToPath(new URL('../../docs/states.md', import.meta.url));

const INTRO = `# States and events

The outcome of every event in every state of a conversation: the store's reply, and after the arrow the run's new status if it
changes. Every pair has a defined outcome, none is a server error, and a reply that refuses changes nothing.

The code generates this table with the transitions of the memory store; a test compares them with those of Redis event by
event. \`UPDATE_STATES=1 npm test -- test/states/table\` writes the table, and the test fails when the table differs from the
code. \`test/states/model/explore.test.ts\` explores all orders of events: none leads into a dead end.

`;

it('docs/states.md agrees with the code', async () => {
  const table = `${INTRO}${await toTable()}\n`;
  if (process.env['UPDATE_STATES'] !== undefined) await writeFile(file, table);
  expect(table).not.toMatch(/\|\s*\|\n/);
  expect(await readFile(file, 'utf8')).toBe(table);
});
