import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, withPrivateFiles } from '../../scripts/start/private-folder.mjs';
import { environmentOfEngine, environmentOfRole } from '../../scripts/start/secrets.mjs';
import { createStandInProject, enginePid, startCommand } from './stand-in-project.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();
let command;
afterEach(async () => {
  command?.child.kill('SIGTERM');
  await command?.exited;
  command = undefined;
});

// A database removes its journal meanwhile.
const modeOf = (path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
/** Everything below a folder that others on this machine may read. */
function openTo(others, folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => (modeOf(path) & others) !== 0);
}

const KEYS = { OPENAI_API_KEY: 'model-key', JWT_SECRET: 'sign-in-key', SOME_TOKEN: 'other-key' };

// By Linux' own tables.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('each process gets the keys that it needs, and what it writes is private', async () => {
  const root = createStandInProject(tempFolder());
  const started = startCommand(root, { ...KEYS, LANG: 'C.UTF-8' });
  command = started;
  // A line that comes together with the one before it would be missed later.
  const shown = started.line(/Ctrl-C stops/);
  const pids = await Promise.all(
    ['worker', 'api'].map(async (role) => {
      const [, pid] = await started.line(new RegExp(`^${role} .*up (\\d+)`));
      return [role, Number(pid)];
    }),
  );
  await shown;
  for (const name of ['temporal', 'redis']) pids.push([name, enginePid(root, name)]);
  const environments = pids.map(([name, pid]) => {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return [name, Object.keys(KEYS).filter((key) => text.includes(`${key}=`))];
  });
  expect(Object.fromEntries(environments)).toEqual({
    worker: ['OPENAI_API_KEY', 'SOME_TOKEN'],
    api: ['JWT_SECRET', 'SOME_TOKEN'],
    temporal: [],
    redis: [],
  });
  const data = join(root, '.data');
  expect(modeOf(data)).toBe(0o700);
  const ofEngines = openTo(0o077, data).filter((path) => !/\.(json|lock)$/.test(path));
  expect(ofEngines).toEqual([]);
});

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
