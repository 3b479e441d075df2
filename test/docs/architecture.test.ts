import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/architecture.md', root), 'utf8');
const exists = (path: string): boolean => existsSync(new URL(path, root));

it('docs/architecture.md names only files and folders that exist', () => {
  const named = [...text.matchAll(/`([a-z-]+\/[a-z/-]*)`/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(40);
  const isThere = (path: string): boolean =>
    path.endsWith('/') ? exists(path) || exists(`ai-sdk/${path}`) : exists(`${path}.ts`);
  const parts = ['middleware/', 'routes/', 'model/', 'tool/', 'leg/'];
  expect(named.filter((path) => !isThere(path) && !parts.includes(path))).toEqual([]);
});
