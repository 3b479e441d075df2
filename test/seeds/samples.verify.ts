import { writeFileSync } from 'node:fs';
import { compile } from '../docs/factories.js';
import { CONTINUED, given, TYPES } from './given.js';
import { areThere, readSamples, toProgram } from './samples.js';

/** Declares as a global what each sample leaves out. */
function toGlobals(): string {
  const from = (
    entries: Record<string, readonly string[]>,
    to: (name: string, entry: string) => string,
  ) => Object.entries(entries).flatMap(([entry, names]) => names.map((name) => to(name, entry)));
  return [
    `import type { given } from '${process.cwd()}/test/seeds/given.ts';`,
    'declare global {',
    ...Object.keys(given).map((name) => `const ${name}: (typeof given)['${name}'];`),
    ...from(CONTINUED, (name, entry) => `const ${name}: typeof import('${entry}').${name};`),
    ...from(CONTINUED, (name, entry) =>
      /^[A-Z]\w+(?:Error|Manager)$/.test(name) ? `type ${name} = import('${entry}').${name};` : '',
    ),
    ...from(TYPES, (name, entry) => `type ${name} = import('${entry}').${name};`),
    'interface MyState { note: string }',
    "type ToolInvocationState = 'input-available' | 'output-available';",
    '}',
  ].join('\n');
}

it('x', async () => {
  expect(areThere).toBe(true);
  const programs = new Map(readSamples().map((s) => [s.name, toProgram(s)] as const));
  programs.set('given-globals', toGlobals());
  programs.set('next', "declare module 'next/navigation' { export function notFound(): never }");
  for (const [n, c] of programs) writeFileSync('/tmp/seedx/progs/' + n + '.tsx', c);
  const faults = [...(await compile(programs))].filter(
    ([, f]) => f.length > 0,
  );
  writeFileSync(
    '/tmp/seedx/faults.txt',
    faults.map(([n, f]) => n + '\n  ' + f.join('\n  ')).join('\n'),
  );
  expect(faults.length).toBe(0);
}, 600000);
