// Installs the packages of the pages in examples/, once per machine and outside of the clone.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideFolder } from '../system/file-lock.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder, projectRoot } from '../system/project.mjs';
import { npmInstall } from './npm.mjs';

/** Dependencies of this package's browser side, which is not installed from the registry. */
const OWN = 'helix-temporal';
const OF_OWN = ['eventsource-parser'];

/**
 * Returns an example's `node_modules`, without this package itself.
 *
 * @throws RegistryError if the registry cannot be reached or lacks a package
 */
export async function installFront(name, env = process.env) {
  const manifest = read(join(projectRoot, 'examples', name, 'package.json'));
  delete manifest.dependencies[OWN];
  for (const needed of OF_OWN) {
    const { version } = read(join(projectRoot, 'node_modules', needed, 'package.json'));
    manifest.dependencies[needed] = version;
  }
  const text = JSON.stringify(manifest);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(env), 'fronts', `${name}-${hash}`);
  await provideFolder(folder, (part) =>
    withProgress(`Installing the packages of examples/${name}`, async () => {
      writeFileSync(join(part, 'package.json'), text);
      await npmInstall([], { cwd: part });
    }),
  );
  return join(folder, 'node_modules');
}

function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
