import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { findNewest, installClients, isNewer } from '../../scripts/clients/client-versions.mjs';
import { RegistryError } from '../../scripts/clients/npm.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();
const newest = [
  { ai: '6.9.9', react: '3.9.9' },
  { ai: '7.9.9', react: '4.9.9' },
];

/** Creates a machine whose npm records its requests. */
function machine({ refuses = () => false } = {}) {
  const installed = [];
  const lines = [];
  return {
    installed,
    lines,
    options: {
      env: { XDG_CACHE_HOME: tempFolder() },
      ask: async () => newest,
      stream: new Writable({
        write: (text, _encoding, done) => {
          lines.push(String(text));
          done();
        },
      }),
      install: async (folder, packages) => {
        writeFileSync(join(folder, 'begun'), '');
        await new Promise((resolve) => setImmediate(resolve));
        if (refuses(packages)) throw new RegistryError('no line');
        installed.push(packages[0]);
      },
    },
  };
}

test('every version gets a folder of its own, once', async () => {
  const { installed, lines, options } = machine();
  const clients = await installClients(options);
  expect(clients.map(({ ai }) => ai)).toEqual([
    '6.0.0',
    '6.0.198',
    '6.0.253',
    '6.9.9',
    '7.0.0',
    '7.0.58',
    '7.0.117',
    '7.9.9',
  ]);
  expect(clients.every(({ entry }) => existsSync(entry))).toBe(true);
  expect(new Set(clients.map(({ entry }) => dirname(entry))).size).toBe(8);
  await installClients(options);
  expect(installed).toHaveLength(8);
  expect(lines).toEqual([]);
});

test('two that ask at the same time install them once', async () => {
  const { installed, options } = machine();
  await Promise.all([installClients(options), installClients(options)]);
  expect(installed).toHaveLength(8);
});

test('what a process that died has begun is not taken for a version, and goes', async () => {
  const { options } = machine();
  const folder = join(options.env.XDG_CACHE_HOME, 'helix-temporal', 'clients');
  mkdirSync(join(folder, 'ai-6.0.0-react-3.0.0-v1.part-x'), { recursive: true });
  const clients = await installClients(options);
  expect(existsSync(clients[0].entry)).toBe(true);
  expect(readdirSync(folder).filter((name) => name.includes('.part-'))).toEqual([]);
});

test('a registry that cannot be reached is asked once, and each version left out is named', async () => {
  let asked = 0;
  const { lines, options } = machine({ refuses: () => (asked += 1) > 2 });
  const clients = await installClients(options);
  expect(asked).toBe(3);
  expect(clients.map(({ reason }) => reason)).toEqual([
    undefined,
    undefined,
    ...Array(6).fill('no line'),
  ]);
  expect(lines).toHaveLength(6);
  expect(lines[0]).toBe('ai 6.0.253 is left out of the tests: no line\n');
  const folder = join(options.env.XDG_CACHE_HOME, 'helix-temporal', 'clients');
  expect(readdirSync(folder).filter((name) => name.includes('.part-'))).toEqual([]);
});

test('an npm that fails for another reason is a failure', async () => {
  const { options } = machine();
  const install = async () => {
    throw new Error('no space left');
  };
  await expect(installClients({ ...options, install })).rejects.toThrow('no space left');
});

test('the newest versions are queried once a day, and the last list is used while the registry is away', async () => {
  const file = join(tempFolder(), 'newest.json');
  const pinned = [{ ai: '6.0.326', react: '3.0.326' }];
  const offline = async () => {
    throw new RegistryError('no line');
  };
  const day = 24 * 3_600_000;
  expect(await findNewest({ file, pinned, ask: offline })).toBe(pinned);
  expect(await findNewest({ file, pinned, ask: async () => newest, now: 0 })).toEqual(newest);
  expect(await findNewest({ file, pinned, ask: async () => pinned, now: 1 })).toEqual(newest);
  expect(await findNewest({ file, pinned, ask: offline, now: day })).toEqual(newest);
  expect(await findNewest({ file, pinned, ask: async () => pinned, now: day })).toEqual(pinned);
});

test.each([
  ['6.0.326', '6.0.322', true],
  ['6.0.99', '6.0.322', false],
  ['6.1.0', '6.0.322', true],
  ['6.0.1', '6.0.1', false],
])('%s is newer than %s: %s', (version, other, expected) => {
  expect(isNewer(version, other)).toBe(expected);
});
