import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { mutations } from '../../scripts/defences/mutations.mjs';
import { takeOut } from '../../scripts/defences/take-out.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';

test.each(mutations.map((mutation) => [mutation.defence, mutation]))(
  'the defence "%s" stands where it can be taken out',
  (_, mutation) => {
    const { missing } = takeOut(readFileSync(join(projectRoot, mutation.file), 'utf8'), mutation);
    expect(missing).toBeUndefined();
  },
);

test('each defence has a name of its own', () => {
  expect(new Set(mutations.map(({ defence }) => defence)).size).toBe(mutations.length);
});
