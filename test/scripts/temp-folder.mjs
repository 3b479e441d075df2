import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Returns a function that makes a folder; each test's folders are removed after it. */
export function useTempFolders() {
  const folders = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'helix-scripts-')));
    folders.push(folder);
    return folder;
  };
}

export function writeText(folder, path, text) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/**
 * Writes a program that always prints the same line, as a stand-in for an engine of any version.
 */
export function writeProgram(folder, name, line) {
  const file = writeText(folder, name, `#!/bin/sh\necho '${line}'\n`);
  chmodSync(file, 0o755);
  return file;
}
