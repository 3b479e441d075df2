// `npm run rehearse-upgrade`: builds release 0.2.0 out of git and lets its processes work beside those of
// today, on one Redis and one Temporal. Arguments are passed to jest.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain, UserError } from './system/user-error.mjs';

/** The last commit of release 0.2.0. */
const FORMER = '072c164bb5b55322582605821ec452cf925fb440';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
  '--testMatch=<rootDir>/test/upgrade/*.rehearsal.ts',
  '--runInBand',
];

await runMain(async () => {
  await installPackages();
  await buildFirst();
  const folder = mkdtempSync(join(tmpdir(), 'helix-former-'));
  try {
    await buildFormer(folder);
    const programs = await testEnvironment({ withBrowser: false });
    process.exitCode = await runInForeground(
      process.execPath,
      [...JEST, ...process.argv.slice(2)],
      {
        cwd: projectRoot,
        env: { ...process.env, ...programs, FORMER_RELEASE: folder },
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** With the packages of today, which have all that it needs. */
async function buildFormer(folder) {
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
