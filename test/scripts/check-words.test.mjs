import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../scripts/system/project.mjs';
import { findBanned } from '../../scripts/words/find-banned.mjs';

const list = readFileSync(join(projectRoot, 'scripts/words/words.json'), 'utf8');
const words = JSON.parse(list);

test.each(words.banned)('a sentence with "%s" is found, with its line', (word) => {
  const text = `const a = 1;\n\n/** One ${word.toUpperCase()}, two. */\n`;
  expect(findBanned(text, words)).toEqual([{ line: 3, word: word.toUpperCase() }]);
});

test('a phrase that a line break splits is found on the line where it begins', () => {
  const [first, second] = ['goes', 'on'];
  const text = `x();\n  // The run ${first}\n  // ${second} then.\n\n * it ${first}\n * ${second}\n`;
  expect(findBanned(text, words)).toEqual([
    { line: 2, word: `${first} ${second}` },
    { line: 5, word: `${first} ${second}` },
  ]);
});

test('a variable with a banned name is found', () => {
  const name = 'sa' + 'id';
  expect(findBanned(`const ${name} = 1;\nuse(${name}.length);\n`, words)).toHaveLength(2);
});

test('either apostrophe is found', () => {
  expect(findBanned('a room of one’' + 's own', words)).toHaveLength(1);
});

test('code that merely contains the letters passes', () => {
  const text = `
    const wasTold = isSaid(threshold, nobody_1, $said);
    goes.on('end', close); go(on); comes.to; workshop; aforesaid; "manewer"; what(work);
  `;
  expect(findBanned(text, words)).toEqual([]);
});

test('a reply of a test model passes', () => {
  const reply = ['You', 'sa' + 'id hello'].join(' ');
  expect(findBanned(`expect(text).toBe('${reply}');`, words)).toEqual([]);
});
