import { mkdtemp, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { outputOf } from '../system/run-command.mjs';

/**
 * Packs a package as for a registry. Returns the path of the tarball.
 *
 * @param folder gets the tarball
 * @param options.from the package; default: this one
 * @param options.scripts true runs `prepack`, which builds this package
 */
export async function pack(folder, { from = projectRoot, scripts = true } = {}) {
  const made = await mkdtemp(join(folder, 'pack-'));
  const args = ['pack', ...(scripts ? [] : ['--ignore-scripts']), '--pack-destination', made];
  await outputOf('npm', args, { cwd: from });
  const [name] = await readdir(made);
  await rename(join(made, name), join(folder, name));
  return join(folder, name);
}
