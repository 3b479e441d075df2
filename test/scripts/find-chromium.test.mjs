import { findChromium } from '../../scripts/engines/test-environment.mjs';
import { useTempFolders, writeProgram } from './temp-folder.mjs';

const tempFolder = useTempFolders();
const noInstall = { canInstall: () => false };

test('a Chromium on PATH is used', async () => {
  const bin = tempFolder();
  const path = writeProgram(bin, 'chromium', 'Chromium 156.0');
  await expect(findChromium({ env: { PATH: bin }, ...noInstall })).resolves.toEqual({ path });
});

test('a missing one is no error, but has a reason', async () => {
  const install = () => Promise.reject(new Error('no network'));
  const env = { PATH: tempFolder() };
  await expect(findChromium({ env, canInstall: () => true, install })).resolves.toEqual({
    reason: expect.stringContaining('no network'),
  });
});
