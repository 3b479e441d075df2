import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  cachedPath,
  DEV_SERVER,
  findProgram,
  findTemporal,
} from '../../scripts/engines/temporal.mjs';
import { useTempFolders, writeProgram } from './temp-folder.mjs';

const REAL = 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)';
const tempFolder = useTempFolders();

function machine() {
  const bin = tempFolder();
  // The shell that runs the stand-ins needs no PATH.
  return { bin, env: { PATH: bin, XDG_CACHE_HOME: tempFolder() } };
}

/** Returns a release whose only accepted checksum is the stand-in's. */
function pinned(line = REAL) {
  const file = writeProgram(tempFolder(), 'temporal', line);
  const checksum = createHash('sha256').update(readFileSync(file)).digest('hex');
  return { ...DEV_SERVER, checksums: { [`${process.platform}-${process.arch}`]: checksum } };
}

/** Returns places that record requests; those with the program write a stand-in. */
function places(has) {
  const asked = [];
  const entries = Object.entries(has).map(([name, line]) => [
    name,
    async ({ folder }) => {
      asked.push(name);
      if (!line) throw new Error(`${name} has none`);
      return writeProgram(folder, 'temporal', line);
    },
  ]);
  return { asked, all: Object.fromEntries(entries) };
}

const cachedIn = (env) => cachedPath(DEV_SERVER, env);
const cacheFiles = (env) => readdirSync(dirname(cachedIn(env)));

describe('finding the Temporal dev server', () => {
  test('TEMPORAL_CLI_PATH comes first', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', REAL);
    const given = writeProgram(tempFolder(), 'my-temporal', REAL);
    await expect(findTemporal({ ...env, TEMPORAL_CLI_PATH: given })).resolves.toBe(given);
  });

  test('a TEMPORAL_CLI_PATH that does not work is refused, not replaced', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', REAL);
    const found = findTemporal({ ...env, TEMPORAL_CLI_PATH: '/nowhere/temporal' });
    await expect(found).rejects.toThrow('TEMPORAL_CLI_PATH is /nowhere/temporal');
  });

  test('PATH comes before the cache', async () => {
    const { bin, env } = machine();
    const onPath = writeProgram(bin, 'temporal', REAL);
    writeProgram(dirname(cachedIn(env)), 'temporal', REAL);
    await expect(findTemporal(env)).resolves.toBe(onPath);
  });

  test('a program that only has the same name is passed over', async () => {
    const { bin, env } = machine();
    writeProgram(bin, 'temporal', 'temporal 0.1, a calendar');
    const cached = writeProgram(dirname(cachedIn(env)), 'temporal', REAL);
    await expect(findTemporal(env)).resolves.toBe(cached);
  });

  test('it is fetched once, from the first place that has it, and kept in the cache', async () => {
    const { env } = machine();
    const { asked, all } = places({ first: undefined, second: REAL, third: REAL });
    await expect(findProgram(pinned(), all, env)).resolves.toBe(cachedIn(env));
    await expect(findProgram(pinned(), all, env)).resolves.toBe(cachedIn(env));
    expect(asked).toEqual(['first', 'second']);
    expect(cacheFiles(env)).toEqual(['temporal']);
  });

  test('two simultaneous starts fetch it once', async () => {
    const { env } = machine();
    const { asked, all } = places({ first: REAL });
    await Promise.all([findProgram(pinned(), all, env), findProgram(pinned(), all, env)]);
    expect(asked).toEqual(['first']);
  });

  test('when no place has it, one sentence lists what was tried and what to do', async () => {
    const { env } = machine();
    const { all } = places({ first: undefined, second: undefined });
    await expect(findProgram(pinned(), all, env)).rejects.toThrow(
      /first has none; second has none\).* its path into TEMPORAL_CLI_PATH/,
    );
    expect(cacheFiles(env)).toEqual([]);
  });

  test('a program that is not the pinned one is not even run', async () => {
    const { env } = machine();
    const trace = join(tempFolder(), 'it-ran');
    const { all } = places({ first: `${REAL}' > ${trace} '` });
    await expect(findProgram(pinned(), all, env)).rejects.toThrow('another checksum');
    expect(existsSync(trace)).toBe(false);
    expect(cacheFiles(env)).toEqual([]);
  });

  test('a program that does not run here is not kept', async () => {
    const { env } = machine();
    const broken = 'exec format error';
    const { all } = places({ first: broken });
    await expect(findProgram(pinned(broken), all, env)).rejects.toThrow('does not run here');
    expect(cacheFiles(env)).toEqual([]);
  });

  test('nothing is fetched for a system without a checksum', async () => {
    const { env } = machine();
    const { asked, all } = places({ first: REAL });
    const found = findProgram({ ...DEV_SERVER, checksums: {} }, all, env);
    await expect(found).rejects.toThrow(`there is none for ${process.platform}-`);
    expect(asked).toEqual([]);
  });
});
