import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const SUITE = fileURLToPath(new URL('./memory-suite.mjs', import.meta.url));

it('the suite runs under node:test as well, from the built package', async () => {
  // `--test` tells by its exit code, which rejects.
  const args = ['--test', '--test-reporter=tap', SUITE];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  const passed = /^# pass (\d+)$/m.exec(stdout)?.[1];
  expect(Number(passed)).toBeGreaterThan(100);
  expect(stdout).toMatch(/^# fail 0$/m);
});
