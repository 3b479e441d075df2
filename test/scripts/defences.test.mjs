import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { formatList } from '../../scripts/defences/format-list.mjs';
import { mutations } from '../../scripts/defences/mutations.mjs';
import { takeOut } from '../../scripts/defences/take-out.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { titlesOf } from '../support/titles-of.mjs';

test.each(mutations.map((mutation) => [mutation.defence, mutation]))(
  'the defence "%s" can be taken out of its file',
  (_, mutation) => {
    const { missing } = takeOut(readFileSync(join(projectRoot, mutation.file), 'utf8'), mutation);
    expect(missing).toBeUndefined();
  },
);

test('every test that must notice a missing defence is in its suite', () => {
  const titles = new Map();
  const missing = mutations.filter(({ suite, test: name }) => {
    if (!titles.has(suite)) titles.set(suite, titlesOf(join(projectRoot, suite)));
    return !titles.get(suite).some((title) => title.test(name));
  });
  expect(missing.map(({ suite, test: name }) => `${suite}: ${name}`)).toEqual([]);
});

test('the names of the defences are unique', () => {
  expect(new Set(mutations.map(({ defence }) => defence)).size).toBe(mutations.length);
});

test('docs/defences.md lists the defences; npm run defences -- --list writes it', () => {
  const list = readFileSync(join(projectRoot, 'docs/defences.md'), 'utf8');
  expect(list).toBe(formatList(mutations));
});
