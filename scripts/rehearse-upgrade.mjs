// `npm run rehearse-upgrade`: builds release 0.2.0 out of git and lets its processes work beside those of
// today, on one Redis and one Temporal. Arguments are passed to jest.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { buildFormer } from './releases/build-former.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain } from './system/user-error.mjs';

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
