import { Argument, Command } from 'commander';
import type { Cli } from '../cli.js';
import { inSentences } from './launcher.js';

/** From dist/cli/local, in the package and in a clone alike. */
const WRITER = new URL('../../../templates/write-app.mjs', import.meta.url).href;

/** `init`: a small app to begin with. */
export function createInitCommand({ terminal }: Cli): Command {
  return new Command('init')
    .summary('write a small app to begin with')
    .description(
      'Writes an app: an agent with a tool that a person approves, a page (Vite and React), tests, and files\n' +
        'for Docker. It runs without a model key. Nothing that is there already is changed.',
    )
    .addArgument(new Argument('[folder]', 'default: this one'))
    .action(async (folder: string | undefined) => {
      terminal.print((await inSentences(write(folder))) ?? '');
    });
}

async function write(folder: string | undefined): Promise<string> {
  const { writeApp } = (await import(WRITER)) as { writeApp: (folder?: string) => string };
  return writeApp(folder);
}
