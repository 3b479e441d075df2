import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';

const PROGRAM = fileURLToPath(new URL('bundle-page.mjs', import.meta.url));
const sources = fileURLToPath(new URL('../../../ai-sdk/', import.meta.url));
const dist = fileURLToPath(new URL('../../../dist/ai-sdk/', import.meta.url));

/** Packages that a compiled module brings into a bundle, by whatever it imports. */
function packagesOf(entry: string): string[] {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = readFileSync(file, 'utf8');
    for (const [, from = ''] of code.matchAll(/^(?:import|export)\b[^'"=(]*['"]([^'"]+)['"];$/gm)) {
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else packages.add(from);
    }
  };
  visit(join(dist, entry));
  return [...packages].sort();
}

it('the entries for browsers import nothing of Node, and only the contract a schema library', () => {
  expect(packagesOf('client/index.js')).toEqual(['eventsource-parser']);
  expect(packagesOf('../protocol/index.js')).toEqual(['zod']);
  expect(packagesOf('react/index.js')).toEqual(['@ai-sdk/react', 'eventsource-parser', 'react']);
});

it.each(['client', 'react'])(
  'an entry for browsers has types that need no other package: %s',
  (folder) => {
    const compilerOptions = { declaration: true, isolatedDeclarations: true };
    for (const file of readdirSync(join(sources, folder))) {
      const source = readFileSync(join(sources, folder, file), 'utf8');
      const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
        compilerOptions,
        reportDiagnostics: true,
        fileName: file,
      });
      // An inferred type would name the `ai` that this package depends on, which is not that of every page.
      const complaints = diagnostics.map(({ messageText }) => messageText);
      expect({ file, complaints }).toEqual({ file, complaints: [] });
      const types = outputText.replace(/\/\*[^]*?\*\//g, '');
      expect(types).not.toMatch(/['"]ai['"]/);
    }
  },
);

it('a page may import from the main entries, and gets nothing of Node', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
  const modules = JSON.parse(stdout) as string[];
  expect(modules.some((id) => id.endsWith('helix-chat-transport.js'))).toBe(true);
  expect(modules.filter((id) => /browser-external|node:/.test(id))).toEqual([]);
});
