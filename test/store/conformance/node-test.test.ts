import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ENTRY = new URL('../../../dist/store/conformance/index.js', import.meta.url).href;

/** Registers the whole suite as another project would and runs one of its cases. */
const PROGRAM = `
  import { describe, it } from 'node:test';
  import { storeConformance } from '${ENTRY}';
  import { createMemoryStores } from '${ENTRY.replace('conformance', 'memory')}';
  storeConformance({
    open: async () => ({ ...createMemoryStores(), close: async () => {} }),
    describe,
    it,
  });
`;

it('the built suite registers and runs its cases under node:test', async () => {
  const pattern = '--test-name-pattern=a message is accepted once';
  const args = ['--test-reporter=tap', pattern, '--input-type=module', '-e', PROGRAM];
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: {} });
  const count = (kind: string): number =>
    Number(new RegExp(`^# ${kind} (\\d+)$`, 'm').exec(stdout)?.[1]);
  expect(count('tests')).toBeGreaterThan(100);
  expect(count('pass')).toBeGreaterThan(0);
  expect(count('fail')).toBe(0);
});
