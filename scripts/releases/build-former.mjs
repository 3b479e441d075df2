// Builds release 0.2.0 out of git, whose processes run beside those of today.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';

/** The last commit of release 0.2.0. */
const FORMER = '072c164bb5b55322582605821ec452cf925fb440';

/** With the packages of today, which have all that it needs. */
export async function buildFormer(folder) {
  const archive = join(folder, 'former.tar');
  await must('git', ['archive', '--output', archive, FORMER], projectRoot);
  await must('tar', ['-xf', archive], folder);
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  await must(process.execPath, ['scripts/build.mjs'], folder);
}

async function must(file, args, cwd) {
  const { code, stdout, stderr } = await runCommand(file, args, { cwd });
  if (code !== 0) throw new UserError(`${file} ${args[0]}: ${lastLines(stderr || stdout)}`);
}
