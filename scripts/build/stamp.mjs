// Remembers what each part of the build was made from, so that an unchanged part is not made again.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function readStamp(dist, part) {
  try {
    return JSON.parse(readFileSync(stampPath(dist, part), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Written last: a build that dies half-way leaves no stamp, and is made again. */
export function writeStamp(dist, part, value) {
  writeAtomically(stampPath(dist, part), JSON.stringify(value));
}

/** Readers see the old file or the new one, never a part: the product may run while it is rebuilt. */
export function writeAtomically(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
}

function stampPath(dist, part) {
  return join(dist, '.stamp', `${part}.json`);
}
