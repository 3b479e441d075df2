// Notices changes of a file and of everything that it imports by a relative path.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { importClosure } from '../build/import-closure.mjs';

/** Editors replace files, containers mount folders: looking is more reliable than being notified. */
const EVERY_MS = 300;

/** Calls `onChange` after each change, one call after the other. Returns a member of the fleet. */
export function watchImports(file, folder, onChange) {
  const entry = relative(folder, file).split(sep).join('/');
  let seen = contentsOf(folder, entry);
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    const now = contentsOf(folder, entry);
    if (now === undefined || now === seen) return;
    seen = now;
    busy = true;
    await onChange();
    busy = false;
  }, EVERY_MS);
  const stop = () => clearInterval(timer);
  return { stop, kill: stop };
}

/** Undefined while an editor replaces one of the files. */
function contentsOf(folder, entry) {
  const hash = createHash('sha256');
  try {
    for (const file of importClosure(folder, [entry])) {
      hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
    }
  } catch {
    return undefined;
  }
  return hash.digest('hex');
}
