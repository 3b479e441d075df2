import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { toTable } from './table.js';

/** The site's page about states is made of it; UPDATE_STATES=1 writes it. */
const file = fileURLToPath(new URL('./outcomes.txt', import.meta.url));

it('the recorded outcome of every event in every state is what the code does', async () => {
  const table = `${await toTable()}\n`;
  if (process.env['UPDATE_STATES'] !== undefined) await writeFile(file, table);
  expect(table).not.toMatch(/\|\s*\|\n/);
  expect(await readFile(file, 'utf8')).toBe(table);
});
