// `npm run rehearse-install`: installs the package from its tarball as strangers do, and runs what the
// documents show. Needs a package registry. Arguments are passed to jest.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { withProgress } from './system/progress.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
  '--testMatch=<rootDir>/test/install/*.rehearsal.ts',
  '--runInBand',
];

await runMain(async () => {
  await installPackages();
  const folder = mkdtempSync(join(tmpdir(), 'helix-tarball-'));
  try {
    await withProgress('Packing', () => pack(folder));
    const [name] = readdirSync(folder);
    const programs = await testEnvironment();
    process.exitCode = await runInForeground(
      process.execPath,
      [...JEST, ...process.argv.slice(2)],
      { cwd: projectRoot, env: { ...process.env, ...programs, HELIX_TARBALL: join(folder, name) } },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function pack(folder) {
  const { code, stderr } = await runCommand('npm', ['pack', '--pack-destination', folder], {
    cwd: projectRoot,
  });
  if (code !== 0) throw new UserError(`npm pack failed:\n${lastLines(stderr)}`);
}
