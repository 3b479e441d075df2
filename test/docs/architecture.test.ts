import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const exists = (path: string): boolean => existsSync(new URL(path, root));

it('docs/architecture.md names only files and folders that exist', () => {
  const text = read('docs/architecture.md');
  const named = [...text.matchAll(/`([a-z-]+\/[a-z/-]*)`/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(15);
  const isThere = (path: string): boolean =>
    path.endsWith('/') ? exists(path) || exists(`ai-sdk/${path}`) : exists(`${path}.ts`);
  const parts = ['middleware/', 'routes/', 'model/', 'tool/', 'leg/'];
  expect(named.filter((path) => !isThere(path) && !parts.includes(path))).toEqual([]);
});

it('docs/threat-model.md names tests that exist', () => {
  const named = [...read('docs/threat-model.md').matchAll(/`(test\/[a-z/0-9-]+)`/g)];
  expect(named.length).toBeGreaterThan(15);
  const kinds = ['', '.test.ts', '.test.mjs'];
  const isThere = (path = ''): boolean => kinds.some((kind) => exists(`${path}${kind}`));
  expect(named.map(([, path]) => path).filter((path) => !isThere(path))).toEqual([]);
});
