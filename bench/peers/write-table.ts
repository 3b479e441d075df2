import { readFileSync, writeFileSync } from 'node:fs';

const BEGIN = '<!-- peers: written by npm run bench:peers -- --write -->';
const END = '<!-- /peers -->';

/**
 * Puts a table between its marks in a file of the project.
 *
 * @param path from the project's root
 * @throws Error if the marks are missing
 */
export function writeTable(path: string, table: string): void {
  // From dist/bench/peers to the project.
  const file = new URL(`../../../${path}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no marks ${BEGIN} … ${END}.`);
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n${table}\n${text.slice(end)}`);
}
