import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { projectRoot } from '../../scripts/system/project.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-deadline-'));
  writeFileSync(join(folder, 'one.test.js'), "it('passes', () => {});");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What jest says of the one test, where files begin until a time, ms since the epoch. */
function runUntil(deadline) {
  const testRunner = join(projectRoot, 'test/support/global-runner.mjs');
  const config = JSON.stringify({ rootDir: folder, testRunner });
  const jest = join(projectRoot, 'node_modules/jest/bin/jest.js');
  const env = { ...process.env, TESTS_BEGIN_UNTIL: String(deadline) };
  return new Promise((resolve) => {
    const args = ['--experimental-vm-modules', jest, '--config', config, '--runInBand', '--json'];
    execFile(process.execPath, args, { env, cwd: folder }, (_, stdout) => {
      const { numPassedTests, numPendingTests } = JSON.parse(stdout);
      resolve({ passed: numPassedTests, skipped: numPendingTests });
    });
  });
}

it('a test file that begins after the deadline is skipped', async () => {
  expect(await runUntil(Date.now() - 1)).toEqual({ passed: 0, skipped: 1 });
});

it('a test file that begins before the deadline runs', async () => {
  expect(await runUntil(Date.now() + 60_000)).toEqual({ passed: 1, skipped: 0 });
});
