// Which files make up the product, and a fingerprint of any set of them.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const FOLDERS = [
  'protocol',
  'agents',
  'run',
  'workflows',
  'extensions',
  'activities',
  'runs',
  'testing',
  'session',
  'store',
  'worker',
  'ai-sdk',
  'api',
  'config',
  'cli',
  'examples',
  'bench',
];

/** Every TypeScript file of the product, relative to the root, sorted. */
export function listSources(root) {
  const files = FOLDERS.flatMap((folder) => listFiles(root, folder));
  for (const file of ['index.ts', 'extension.ts']) {
    if (existsSync(join(root, file))) files.push(file);
  }
  return files.filter((file) => /\.tsx?$/.test(file) && !isElsewhere(file)).sort();
}

/** Declarations, and the example that is a project of its own. */
function isElsewhere(file) {
  return file.endsWith('.d.ts') || file.startsWith('examples/next/');
}

/** All files below a folder, relative to the root, with forward slashes. */
export function listFiles(root, folder) {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** A fingerprint of contents, not of times: a checkout changes all times and no content. */
export function fingerprint(root, files, ...settings) {
  const hash = createHash('sha256').update(JSON.stringify(settings));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}
