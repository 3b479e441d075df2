import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A user's project folder with the package installed. */
export interface OwnProject {
  readonly folder: string;
  write: (path: string, text: string) => void;
  close: () => void;
}

export function createOwnProject(files: Readonly<Record<string, string>> = {}): OwnProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'helix-own-')));
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  symlinkSync(ROOT, join(packages, 'helix-temporal'));
  for (const name of ['zod', 'ai']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  const write: OwnProject['write'] = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    folder,
    write,
    close: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
