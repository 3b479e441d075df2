import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Imports by file, since the entries load mostly the same ones. */
const known = new Map<string, string[]>();

/** Returns the packages that a file loads, directly or not, by the importing file; skips types. */
function packagesOf(entry: string): Map<string, string> {
  const packages = new Map<string, string>();
  const open = [join(root, entry)];
  const seen = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const imports = known.get(file) ?? importsOf(file);
    known.set(file, imports);
    for (const name of imports) {
      if (name.startsWith('.')) open.push(toSource(join(dirname(file), name)));
      else packages.set(name, relative(root, file));
    }
  }
  return packages;
}

function importsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023);
  return source.statements.flatMap((each) => {
    const isImport = ts.isImportDeclaration(each);
    if (!isImport && !ts.isExportDeclaration(each)) return [];
    const isOfTypes = isImport ? each.importClause?.phaseModifier !== undefined : each.isTypeOnly;
    const { moduleSpecifier: from } = each;
    if (isOfTypes || from === undefined || !ts.isStringLiteral(from)) return [];
    return [from.text];
  });
}

function toSource(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(source) ? source : path;
}

const isTemporal = ([name]: [string, string]): boolean => name.startsWith('@temporalio/');

describe('programs without Temporal', () => {
  it.each([
    'extensions/one-process/index.ts',
    'extensions/index.ts',
    'testing/index.ts',
    'extensions/api.ts',
  ])('%s loads no package of Temporal', (entry) => {
    const packages = packagesOf(entry);
    expect(packages.size).toBeGreaterThan(1);
    expect([...packages].filter(isTemporal)).toEqual([]);
  });

  it('this test sees what the worker loads', () =>
    expect([...packagesOf('extensions/worker.ts')].some(isTemporal)).toBe(true));
});
