// Writes the app of `helix-temporal init` and `npm create helix-temporal`.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TEMPLATE = fileURLToPath(new URL('./app', import.meta.url));
const PACKAGE = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');
// Registries drop files with the real names.
const RENAMED = { _gitignore: '.gitignore', _dockerignore: '.dockerignore' };

/**
 * Writes the app into a folder, which may already have other files.
 *
 * @returns a message for the user
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
  for (const file of ['package.json', 'README.md', 'compose.yaml']) {
    const path = join(target, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('helix-app', toPackageName(target)));
  }
  const tarball = takeTarballAlong(target);
  const shown = relative(process.cwd(), target);
  const steps = [...(shown === '' ? [] : [`cd ${quoted(shown)}`]), 'npm install', 'npm run dev'];
  const note =
    tarball === undefined
      ? ''
      : ` It depends on file:${tarball}, which is a copy of the package that wrote it.`;
  return `The app is in ${target}.${note} Next:\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`;
}

/**
 * An app from a tarball of this package depends on that tarball. It is copied into the app, because an image
 * is built from the app's folder alone.
 *
 * @returns the name of the copy; undefined for a package of a registry
 */
function takeTarballAlong(target) {
  const packages = dirname(PACKAGE);
  const record = join(packages, '.package-lock.json');
  if (!existsSync(record)) return undefined;
  const { packages: installed } = JSON.parse(readFileSync(record, 'utf8'));
  const { resolved } = installed['node_modules/helix-temporal'] ?? {};
  const [, tarball] = /^file:(.*\.tgz)$/.exec(resolved) ?? [];
  if (tarball === undefined) return undefined;
  copyFileSync(resolve(dirname(packages), tarball), join(target, basename(tarball)));
  const path = join(target, 'package.json');
  const app = JSON.parse(readFileSync(path, 'utf8'));
  app.dependencies['helix-temporal'] = `file:${basename(tarball)}`;
  writeFileSync(path, `${JSON.stringify(app, undefined, 2)}\n`);
  return basename(tarball);
}

/** Converts the folder's name to a valid npm name. */
function toPackageName(folder) {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'helix-app' : name;
}

/** Quotes a path for a shell. */
function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
