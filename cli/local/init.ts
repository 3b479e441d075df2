import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, Command } from 'commander';
import type { Cli } from '../cli.js';
import { wrongUsage } from '../failure.js';

/** From dist/cli/local, in the package and in a clone alike. */
const TEMPLATE = fileURLToPath(new URL('../../../templates/app', import.meta.url));

/** `init`: a small app to begin with. */
export function createInitCommand({ terminal }: Cli): Command {
  return new Command('init')
    .summary('write a small app to begin with')
    .description(
      'Writes an app: an agent with a tool that a person approves, a page (Vite and React), tests, and files\n' +
        'for Docker. It runs without a model key. Nothing that is there already is changed.',
    )
    .addArgument(new Argument('[folder]', 'default: this one'))
    .action((folder: string | undefined) => {
      const target = resolve(folder ?? '.');
      writeApp(target);
      const shown = relative(process.cwd(), target);
      const steps = [...(shown === '' ? [] : [`cd ${shown}`]), 'npm install', 'npm run dev'];
      terminal.print(
        `The app is in ${target}. Next:\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`,
      );
    });
}

/** @throws CliFailure if a file would be overwritten */
function writeApp(target: string): void {
  const names = readdirSync(TEMPLATE);
  const present = names.map(toShipped).filter((name) => existsSync(join(target, name)));
  if (present.length > 0) {
    throw wrongUsage(`${target} has ${present.join(', ')} already; name another folder.`);
  }
  mkdirSync(target, { recursive: true });
  cpSync(TEMPLATE, target, { recursive: true });
  // Registries leave a file of the right name out.
  renameSync(join(target, '_gitignore'), join(target, '.gitignore'));
  for (const file of ['package.json', 'README.md']) {
    const path = join(target, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('helix-app', toPackageName(target)));
  }
}

function toShipped(name: string): string {
  return name === '_gitignore' ? '.gitignore' : name;
}

/** A name that npm accepts. */
function toPackageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'helix-app' : name;
}
