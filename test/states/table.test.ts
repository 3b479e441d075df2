import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { toTable } from './table.js';

const file = fileURLToPath(new URL('../../docs/states.md', import.meta.url));

const INTRO = `# States and events

What comes of every event in every state of a conversation: the store's reply, and after the arrow the run's status if it
changes. Nothing is undefined, and nothing is an error of the server: a reply that refuses changes nothing. The table is
made by the code, with the transitions of the store in memory, which a test compares with those of Redis event by event;
\`UPDATE_STATES=1 npm test -- test/states/table\` writes it anew, and the test fails when it is not what the code does. That no
order of events leads into a dead end is explored by \`test/states/model/explore.test.ts\`.

`;

it('docs/states.md says what the code does', async () => {
  const table = `${INTRO}${await toTable()}\n`;
  if (process.env['UPDATE_STATES'] !== undefined) await writeFile(file, table);
  expect(table).not.toMatch(/\|\s*\|\n/);
  expect(await readFile(file, 'utf8')).toBe(table);
});
