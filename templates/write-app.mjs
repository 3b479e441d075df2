// Writes the app of `helix-temporal init` and `npm create helix-temporal`.
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

const TEMPLATE = fileURLToPath(new URL('./app', import.meta.url));
// Registries leave files of the right names out.
const RENAMED = { _gitignore: '.gitignore', _dockerignore: '.dockerignore' };

/**
 * Writes the app into a folder, which may have other files already.
 *
 * @returns what to tell the person who asked for it
 * @throws Error named `UsageError` if a file would be overwritten; nothing is written then
 */
export function writeApp(folder = '.') {
  const target = resolve(folder);
  const present = readdirSync(TEMPLATE)
    .map((name) => RENAMED[name] ?? name)
    .filter((name) => existsSync(join(target, name)));
  if (present.length > 0) {
    const message = `${target} has ${present.join(', ')} already; name another folder.`;
    throw Object.assign(new Error(message), { name: 'UsageError' });
  }
  mkdirSync(target, { recursive: true });
  cpSync(TEMPLATE, target, { recursive: true });
  for (const [name, right] of Object.entries(RENAMED)) {
    renameSync(join(target, name), join(target, right));
  }
  for (const file of ['package.json', 'README.md']) {
    const path = join(target, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('helix-app', toPackageName(target)));
  }
  const shown = relative(process.cwd(), target);
  const steps = [...(shown === '' ? [] : [`cd ${quoted(shown)}`]), 'npm install', 'npm run dev'];
  return `The app is in ${target}. Next:\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`;
}

/** A name that npm accepts. */
function toPackageName(folder) {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'helix-app' : name;
}

/** For a shell. */
function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
