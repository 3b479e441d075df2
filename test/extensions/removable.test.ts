import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Rooms that know no extension. */
const FRONT = [
  'protocol',
  'agents',
  'session',
  'store',
  'stores',
  'run',
  'workflows',
  'activities',
  'executor',
  'worker',
  'ai-sdk',
  'api',
  'config',
];
/** Composed by hand: programs, and what the test kit is made of. */
const COMPOSED = /(?:^|\/)main\.ts$/;
const EXTENSIONS = readdirSync('extensions', { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

const imports = FRONT.flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !COMPOSED.test(file))
    .flatMap((file) => {
      const path = join(room, file);
      const named = readFileSync(path, 'utf8').matchAll(/(?:from|import)[\s(]*'(\.[^']+)'/g);
      return [...named].map(([, target = '']) => [path, join(dirname(path), target)] as const);
    }),
);

it.each(EXTENSIONS)('no front room imports the extension %s', (name) => {
  expect(imports.length).toBeGreaterThan(2_000);
  expect(imports.filter(([, target]) => target.startsWith(`extensions/${name}/`))).toEqual([]);
});
