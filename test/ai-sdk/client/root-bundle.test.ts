import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('bundle-page.mjs', import.meta.url));

it('a page may import from the main entries, and gets nothing of Node', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
  const modules = JSON.parse(stdout) as string[];
  expect(modules.some((id) => id.endsWith('helix-chat-transport.js'))).toBe(true);
  expect(modules.filter((id) => /browser-external|node:/.test(id))).toEqual([]);
}, 60_000);
