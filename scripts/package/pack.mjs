import { mkdtemp, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, UserError } from '../system/project.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';

/**
 * Packs a package as a registry would get it. Returns the path of the tarball.
 *
 * @param folder          where the tarball goes
 * @param options.from    the package; default: this one
 * @param options.scripts whether its `prepack` runs, which builds this one
 */
export async function pack(folder, { from = projectRoot, scripts = true } = {}) {
  const made = await mkdtemp(join(folder, 'pack-'));
  const args = ['pack', ...(scripts ? [] : ['--ignore-scripts']), '--pack-destination', made];
  const { code, stderr } = await runCommand('npm', args, { cwd: from });
  if (code !== 0) throw new UserError(`npm pack failed:\n${lastLines(stderr)}`);
  const [name] = await readdir(made);
  await rename(join(made, name), join(folder, name));
  return join(folder, name);
}
