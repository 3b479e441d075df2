// `npm run cli-help`: writes the help of every command to test/cli/help, where a test compares it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

export const HELP_FOLDER = join(projectRoot, 'test/cli/help');

/** The help of a program and of every command below it, by the names of their files. */
export function helpTexts(program) {
  const file = program.parent === null ? program.name() : toPath(program).join('-');
  const below = program.commands.flatMap((command) => helpTexts(command));
  return [[`${file}.txt`, helpOf(program)], ...below];
}

/** With what is added behind it. */
function helpOf(command) {
  let text = '';
  const writeOut = (part) => (text += part);
  command.configureOutput({ writeOut, getOutHelpWidth: () => 100, getOutHasColors: () => false });
  command.outputHelp();
  return text;
}

/** Without the name of the program. */
function toPath(command) {
  return command.parent === null ? [] : [...toPath(command.parent), command.name()];
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await buildFirst();
    const { createProgram } = await import('../dist/cli/program.js');
    rmSync(HELP_FOLDER, { recursive: true, force: true });
    mkdirSync(HELP_FOLDER, { recursive: true });
    for (const [file, text] of helpTexts(createProgram({}, { version: '0.0.0' }))) {
      writeFileSync(join(HELP_FOLDER, file), text);
    }
  });
}
