import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../docs/factories.js';
import { CONTINUED, given, TYPES } from './given.js';
import { areThere, DIFFERENT, readSamples, toProgram } from './samples.js';

// Compiles every sample in strict TypeScript, with packages mapped as in docs/from-helix.md.

/** Faults of omitted types, as in JavaScript. */
const ALLOWED = new Set(['TS7006', 'TS7031']);

/** Declares the samples' omissions as globals. */
function toGlobals(): string {
  const each = (
    entries: Record<string, readonly string[]>,
    declare: (name: string, entry: string) => string,
  ): string[] =>
    Object.entries(entries).flatMap(([entry, names]) => names.map((name) => declare(name, entry)));
  return [
    `import type { given } from '${join(import.meta.dirname, 'given.ts')}';`,
    'declare global {',
    ...Object.keys(given).map((name) => `var ${name}: (typeof given)['${name}'];`),
    ...each(CONTINUED, (name, entry) => `const ${name}: typeof import('${entry}').${name};`),
    ...each(TYPES, (name, entry) => `type ${name} = import('${entry}').${name};`),
    // Samples pass their own state to `buildSnapshot`, too.
    'type MyState = Record<string, unknown>;',
    "type ToolInvocationState = 'input-available' | 'output-available';",
    '}',
  ].join('\n');
}

if (!areThere) {
  it.skip('The Helix documents are not beside this checkout: their samples are not compiled.', () =>
    undefined);
} else {
  it('every sample of the documents compiles, but for those whose difference is written down', async () => {
    const programs = new Map(readSamples().map((each) => [each.name, toProgram(each)] as const));
    programs.set('given-globals', toGlobals());
    programs.set('next', 'export function notFound(): never { throw new Error(); }');
    const found: Record<string, string[]> = {};
    for (const [name, faults] of await compile(programs)) {
      const codes = new Set(faults.map((fault) => /^TS\d+/.exec(fault)?.[0] ?? fault));
      const strange = [...codes].filter((code) => !ALLOWED.has(code)).sort();
      if (strange.length > 0) found[name] = strange;
    }
    const known = Object.entries(DIFFERENT).map(([name, { faults }]) => [name, faults]);
    expect(found).toEqual(Object.fromEntries(known));
  }, 180_000);
}

it('what differs by intention is a row of the guide', () => {
  const guide = readFileSync('docs/from-helix.md', 'utf8');
  const rows = Object.values(DIFFERENT).flatMap(({ row }) => row ?? []);
  expect(rows.filter((row) => !guide.includes(`\n| ${row} | `))).toEqual([]);
});
