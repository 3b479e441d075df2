import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../engines/cache-folder.mjs';
import { projectRoot } from '../system/project.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';

const programs = join(projectRoot, 'bench', 'peers', 'programs');
/** Programs that are built after they are installed. */
const BUILDS = { 'vercel-workflow': ['node_modules/nitro/dist/cli/index.mjs', 'build'] };

/**
 * Copies the peers' programs to the cache, each with its packages, built where it needs that. The
 * folder is named by what is in it, so a changed program is installed again.
 *
 * @returns the folder
 */
export async function installPeers() {
  const folder = join(cacheFolder(), 'peers', hashOf(programs));
  for (const name of readdirSync(programs).filter((each) => each !== 'shared')) {
    const target = join(folder, name);
    if (existsSync(target)) continue;
    const draft = `${target}.${process.pid}`;
    console.error(`installing ${name} …`);
    cpSync(join(programs, name), draft, { recursive: true });
    cpSync(join(programs, 'shared'), join(draft, 'shared'), { recursive: true });
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], draft);
    // Paths of the build stay in what it writes, so it runs at its place.
    renameSync(draft, target);
    try {
      if (BUILDS[name] !== undefined) await run(process.execPath, BUILDS[name], target);
    } catch (error) {
      rmSync(target, { recursive: true, force: true });
      throw error;
    }
  }
  return folder;
}

async function run(file, args, cwd) {
  const { code, stdout, stderr } = await runCommand(file, args, { cwd });
  if (code !== 0) {
    throw new UserError(`${file} ${args.join(' ')} failed:\n${lastLines(stdout + stderr)}`);
  }
}

function hashOf(folder) {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(file.slice(folder.length)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
