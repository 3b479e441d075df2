import { readdirSync } from 'node:fs';
import { sourceOf } from '../support/run-source.js';

/** Tests that start examples by name, from a list. */
const BY_LIST = /fronts\/pages|next\.rehearsal/;

it('each example is listed, with a test that starts it', () => {
  const rows = sourceOf('examples/README.md').split('\n').slice(4);
  const started = new Map<string, string[]>();
  for (const row of rows) {
    const [, named = '', , by = ''] = row.split('|');
    const tests = [...by.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file);
    for (const [, name = ''] of named.matchAll(/\]\(([^)]+)\)/g)) started.set(name, tests);
  }
  const folders = readdirSync('examples', { withFileTypes: true });
  const names = folders.filter((each) => each.isDirectory()).map(({ name }) => name);
  expect([...started.keys()].sort()).toEqual(names.sort());
  for (const [name, tests] of started) {
    expect(tests).not.toEqual([]);
    for (const file of tests) {
      const names = [`examples/${name}`, 'examples/index', `./${name}-`];
      const text = sourceOf(file);
      const isNamed = names.some((each) => text.includes(each)) || BY_LIST.test(file);
      expect([name, file, isNamed]).toEqual([name, file, true]);
    }
  }
});
