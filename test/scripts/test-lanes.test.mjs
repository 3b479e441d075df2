import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../scripts/system/project.mjs';
import { jestPatternsOf, LONG } from '../../scripts/test-lanes.mjs';

const files = readdirSync(join(projectRoot, 'test'), { recursive: true })
  .filter((path) => /\.test\.(tsx?|mjs)$/.test(path))
  .map((path) => `test/${path}`);

/** The files that jest runs with these options. */
function filesOf(lane) {
  const patterns = jestPatternsOf(lane).map((option) => option.split('='));
  return files.filter((file) =>
    patterns.every(([name, pattern]) => {
      const isNamed = new RegExp(pattern).test(file);
      return name === '--testPathPatterns' ? isNamed : !isNamed;
    }),
  );
}

it('every test file runs in exactly one lane', () => {
  expect([...filesOf('first'), ...filesOf('long')].toSorted()).toEqual(files.toSorted());
});

it('every path of the long lane has a file', () => {
  expect(LONG.filter((path) => !files.some((file) => file.includes(path)))).toEqual([]);
});
