import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path/posix';

const IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;
const CODE = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']);

/**
 * Returns the given files and all project files that they import, directly or not. Type imports count too,
 * which only costs an occasional needless rebuild.
 */
export function importClosure(root, entries) {
  const seen = new Set();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (!CODE.has(extname(file))) continue;
    for (const [, specifier] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      const target = resolveSource(root, normalize(join(dirname(file), specifier)));
      if (target) open.push(target);
    }
  }
  return [...seen].sort();
}

/** Resolves an import to its source: TypeScript files are imported by the name of their output. */
function resolveSource(root, path) {
  const stem = path.replace(/\.[mc]?jsx?$/, '');
  const endings = ['ts', 'tsx', 'mts', 'cts'];
  return [path, ...endings.map((ending) => `${stem}.${ending}`), `${path}/index.ts`].find(
    (candidate) => existsSync(join(root, candidate)) && statSync(join(root, candidate)).isFile(),
  );
}
