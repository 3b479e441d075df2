import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

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

it('brings nothing of Node, and no schema library, into a page', () => {
  expect(packagesOf('client/index.js')).toEqual(['eventsource-parser']);
  expect(packagesOf('react/index.js')).toEqual(['@ai-sdk/react', 'react']);
});
