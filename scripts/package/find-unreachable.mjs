import { dirname, join, normalize } from 'node:path/posix';

const IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+\.m?js)['"]/g;

/**
 * The code of a package that none of its entries, commands and processes imports, directly or not.
 *
 * @param files             paths from the package's root
 * @param read              the text of a file
 * @param options.processes files that are run by their paths
 * @param options.absent    files that are imported and left out of the package on purpose
 */
export function findUnreachable(files, read, { processes, absent }) {
  const { exports, bin } = JSON.parse(read('package.json'));
  const entries = Object.values(exports).flatMap((entry) => entry.default ?? []);
  const open = [...entries, ...Object.values(bin), ...processes];
  const reached = new Set();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const path = normalize(file);
    if (reached.has(path) || absent.has(path)) continue;
    reached.add(path);
    for (const [, target] of read(path).matchAll(IMPORT)) open.push(join(dirname(path), target));
  }
  return files.filter(
    (file) =>
      /^(dist|scripts)\/.*\.m?js$/.test(file) && !reached.has(file) && !isTypesOnly(read(file)),
  );
}

/** What is left of a file of types. */
function isTypesOnly(code) {
  return code.replace(/\/\*[^]*?\*\/|\/\/.*/g, '').trim() === 'export { };';
}
