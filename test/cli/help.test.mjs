import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../../cli/program.js';
import { HELP_FOLDER, helpTexts } from '../../scripts/cli-help.mjs';

const texts = helpTexts(createProgram({}, { version: '0.0.0' }));

// `npm run cli-help` writes the files.
it.each(texts)('the help in %s is what the command prints', (file, text) => {
  expect(text).toBe(readFileSync(join(HELP_FOLDER, file), 'utf8'));
});

it('there is no help for a command that does not exist', () => {
  expect(readdirSync(HELP_FOLDER).sort()).toEqual(texts.map(([file]) => file).sort());
});
