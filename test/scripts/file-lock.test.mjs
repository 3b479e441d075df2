import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { tryLock, withLock } from '../../scripts/system/file-lock.mjs';
import { identityOf } from '../../scripts/system/process-identity.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { useTempFolders } from './temp-folder.mjs';

const run = promisify(execFile);
const tempFolder = useTempFolders();

test('a lock that is held says by whom', () => {
  const path = join(tempFolder(), 'lock');
  const { release } = tryLock(path);
  expect(tryLock(path)).toEqual({ holder: identityOf(process.pid) });
  release();
  expect(tryLock(path).release).toBeDefined();
});

test('the lock of a process that is gone is taken over', async () => {
  const path = join(tempFolder(), 'lock');
  const { stdout } = await run(process.execPath, ['-p', 'process.pid']);
  writeFileSync(path, JSON.stringify({ pid: Number(stdout), startTime: '1' }));
  expect(tryLock(path).release).toBeDefined();
});

test('a lock whose process id now belongs to another process is taken over', () => {
  const path = join(tempFolder(), 'lock');
  writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: 'another' }));
  expect(tryLock(path).release).toBeDefined();
});

test('processes that all want it, and find a dead one holding it, take turns', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: 1, startTime: 'another' }));
  writeFileSync(join(folder, 'count'), '0');
  const module = pathToFileURL(join(projectRoot, 'scripts/system/file-lock.mjs')).href;
  const code = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { withLock } from '${module}';
    await withLock('${folder}/lock', async () => {
      const count = Number(readFileSync('${folder}/count', 'utf8'));
      await new Promise(setImmediate);
      writeFileSync('${folder}/count', String(count + 1));
    });`;
  await Promise.all(
    Array.from({ length: 6 }, () => run(process.execPath, ['--input-type=module', '-e', code])),
  );
  expect(readFileSync(join(folder, 'count'), 'utf8')).toBe('6');
});

test('work that fails gives the lock back', async () => {
  const path = join(tempFolder(), 'lock');
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(tryLock(path).release).toBeDefined();
});
