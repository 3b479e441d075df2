import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TITLE =
  /(?:\b\w+|\))\(\s*(?:'((?:\\.|[^'\\\n])+)'|"((?:\\.|[^"\\\n])+)"|`((?:\\.|[^`\\])+)`)/g;
const IMPORT = /from '(\.[^']+)'/g;
/** What jest fills in, and what the code does. */
const FILLED = /%[a-z#]|\$\{[^}]*\}|\$\w+(?:\.\w+)*/g;

/** Patterns of the titles of a suite's tests, those in files that it imports included. */
export function titlesOf(suite) {
  const seen = new Set();
  const titles = [];
  const waiting = [suite];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file) || !/\/(test|conformance)\//.test(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, ...kinds] of text.matchAll(TITLE)) titles.push(toPattern(kinds.find(Boolean)));
    for (const [, name] of text.matchAll(IMPORT)) {
      const path = join(dirname(file), name);
      const source = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')];
      waiting.push(...source.filter((candidate) => existsSync(candidate)));
    }
  }
  return titles;
}

function toPattern(title) {
  const parts = title.replace(/\\(.)/g, '$1').split(FILLED);
  const fixed = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(^| )${fixed.join('.*')}$`, 's');
}
