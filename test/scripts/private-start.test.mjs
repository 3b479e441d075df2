import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, withPrivateFiles } from '../../scripts/start/engine.mjs';
import { environmentOfEngine, environmentOfRole } from '../../scripts/start/settings.mjs';
import { KEYS, modeOf, openTo } from './stand-in-project.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();

describe('the data folder', () => {
  test('only our own files in a data folder that was open are made private', () => {
    const folder = tempFolder();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'redis'), { mode: 0o755 });
    for (const name of ['temporal.db', 'temporal.db-wal', 'notes']) {
      writeFileSync(join(folder, name), '');
      chmodSync(join(folder, name), 0o644);
    }
    makePrivateFolder(folder);
    expect(modeOf(folder)).toBe(0o755);
    expect(openTo(0o077, folder)).toEqual([join(folder, 'notes')]);
  });

  test('the umask is restored when the start of an engine fails', () => {
    const before = process.umask();
    const thrown = () => {
      throw new Error('not started');
    };
    expect(() => withPrivateFiles(thrown)).toThrow('not started');
    expect(process.umask()).toBe(before);
  });
});

test('engines get no keys, and each role gets only its own', () => {
  const env = { PATH: '/bin', HOME: '/root', TZ: 'UTC', LC_ALL: 'C', ...KEYS, NODE_OPTIONS: '' };
  expect(Object.keys(environmentOfEngine(env))).toEqual(['PATH', 'HOME', 'TZ', 'LC_ALL']);
  expect(environmentOfRole('api', env)).not.toHaveProperty('OPENAI_API_KEY');
  expect(environmentOfRole('worker', env)).not.toHaveProperty('JWT_SECRET');
});
