import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cachedTemporalPath, findTemporal } from '../../scripts/engines/temporal.mjs';
import { useTempFolders, writeProgram } from './temp-folder.mjs';

const REAL = 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)';
const tempFolder = useTempFolders();

function machine() {
  const bin = tempFolder();
  // The shell that runs the stand-ins needs no PATH of its own.
  return { bin, env: { PATH: bin, XDG_CACHE_HOME: tempFolder() } };
}

/** Ways to get one that note that they were tried. */
function ways({ downloadWorks = false, buildWorks = false } = {}) {
  const tried = [];
  const way =
    (name, works) =>
    async ({ target }) => {
      tried.push(name);
      if (!works) throw new Error(`${name} does not work`);
      writeProgram(dirname(target), 'temporal', REAL);
    };
  return { tried, download: way('download', downloadWorks), build: way('build', buildWorks) };
}

describe('finding the Temporal dev server', () => {
  test('TEMPORAL_CLI_PATH comes first', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', REAL);
    const given = writeProgram(tempFolder(), 'my-temporal', REAL);
    await expect(findTemporal({ env: { ...env, TEMPORAL_CLI_PATH: given } })).resolves.toBe(given);
  });

  test('a TEMPORAL_CLI_PATH that does not work is refused, not replaced', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', REAL);
    const found = findTemporal({ env: { ...env, TEMPORAL_CLI_PATH: '/nowhere/temporal' } });
    await expect(found).rejects.toThrow('TEMPORAL_CLI_PATH is /nowhere/temporal');
  });

  test('PATH comes before the cache', async () => {
    const { bin, env } = machine();
    const onPath = writeProgram(bin, 'temporal', REAL);
    writeProgram(dirname(cachedTemporalPath(env)), 'temporal', REAL);
    await expect(findTemporal({ env })).resolves.toBe(onPath);
  });

  test('a program that only has the same name is passed over', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', 'temporal 0.1, a calendar');
    const cached = writeProgram(dirname(cachedTemporalPath(env)), 'temporal', REAL);
    await expect(findTemporal({ env })).resolves.toBe(cached);
  });

  test('the cache is used without the network', async () => {
    const { env } = machine();
    const { tried, ...fallbacks } = ways({ downloadWorks: true });
    writeProgram(dirname(cachedTemporalPath(env)), 'temporal', REAL);
    await expect(findTemporal({ env, ...fallbacks })).resolves.toBe(cachedTemporalPath(env));
    expect(tried).toEqual([]);
  });

  test('it is downloaded once, and found in the cache the next time', async () => {
    const { env } = machine();
    const { tried, ...fallbacks } = ways({ downloadWorks: true, buildWorks: true });
    await findTemporal({ env, ...fallbacks });
    await expect(findTemporal({ env, ...fallbacks })).resolves.toBe(cachedTemporalPath(env));
    expect(tried).toEqual(['download']);
  });

  test('it is built when the download fails', async () => {
    const { env } = machine();
    const { tried, ...fallbacks } = ways({ buildWorks: true });
    await expect(findTemporal({ env, ...fallbacks })).resolves.toBe(cachedTemporalPath(env));
    expect(tried).toEqual(['download', 'build']);
  });

  test('when nothing works, one sentence lists what was tried and what to do', async () => {
    const { env } = machine();
    const { tried, ...fallbacks } = ways();
    const found = findTemporal({ env, ...fallbacks });
    await expect(found).rejects.toThrow(
      /download does not work; build does not work\).*set TEMPORAL_CLI_PATH/,
    );
    expect(tried).toEqual(['download', 'build']);
  });
});

test('two simultaneous starts build it once', async () => {
  const { env } = machine();
  const { tried, ...fallbacks } = ways({ buildWorks: true });
  mkdirSync(dirname(cachedTemporalPath(env)), { recursive: true });
  await Promise.all([findTemporal({ env, ...fallbacks }), findTemporal({ env, ...fallbacks })]);
  expect(tried).toEqual(['download', 'build']);
});
