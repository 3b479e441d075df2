// Lists the product's files and fingerprints any set of them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { readJson, writeAtomically } from '../system/files.mjs';

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

/** Lists the product's TypeScript files, relative to the root, sorted. */
export function listSources(root) {
  const files = FOLDERS.flatMap((folder) => listFiles(root, folder));
  for (const file of ['index.ts', 'extension.ts']) {
    if (existsSync(join(root, file))) files.push(file);
  }
  return files.filter((file) => /\.tsx?$/.test(file) && !isElsewhere(file)).sort();
}

/** Returns true for declarations and for the example with its own project. */
function isElsewhere(file) {
  return file.endsWith('.d.ts') || file.startsWith('examples/next/');
}

/** Lists all files below a folder, relative to the root, with forward slashes. */
export function listFiles(root, folder) {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** Hashes contents, not times: a checkout changes all times and no content. */
export function fingerprint(root, files, ...settings) {
  const hash = createHash('sha256').update(JSON.stringify(settings));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

// A stamp records the inputs of a part of the build, so that an unchanged part is not rebuilt.
export function readStamp(dist, part) {
  return readJson(stampPath(dist, part));
}

/** Written last: a build that dies half-way leaves no stamp and is repeated. */
export function writeStamp(dist, part, value) {
  writeAtomically(stampPath(dist, part), JSON.stringify(value));
}

function stampPath(dist, part) {
  return join(dist, '.stamp', `${part}.json`);
}

export function swcOptions(file) {
  return {
    swcrc: false,
    configFile: false,
    // The output is the source without types; source maps would be half of the package.
    sourceMaps: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx: file.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic' }, verbatimModuleSyntax: true },
    },
  };
}
