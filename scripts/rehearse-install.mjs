// `npm run rehearse-install`: installs the package from its tarball as users do, and runs the documents'
// examples. Needs a package registry. Passes its arguments to jest.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { pack } from './package/pack.mjs';
import { withProgress } from './system/progress.mjs';
import { projectRoot, runMain } from './system/project.mjs';
import { runInForeground } from './system/run-command.mjs';

const JEST = [
  'node_modules/jest/bin/jest.js',
  '--testMatch=<rootDir>/test/install/*.rehearsal.ts',
  '--runInBand',
];

await runMain(async () => {
  await installPackages();
  const folder = mkdtempSync(join(tmpdir(), 'helix-tarball-'));
  try {
    const tarball = await withProgress('Packing', () => pack(folder));
    const creator = await pack(folder, { from: join(projectRoot, 'create') });
    const programs = await testEnvironment();
    process.exitCode = await runInForeground(
      process.execPath,
      [...JEST, ...process.argv.slice(2)],
      {
        cwd: projectRoot,
        env: { ...process.env, ...programs, HELIX_TARBALL: tarball, HELIX_CREATOR: creator },
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
