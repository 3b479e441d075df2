import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { ARCHIVE_CHECKSUMS } from '../../scripts/engines/temporal/checksums.mjs';
import { downloadTemporal } from '../../scripts/engines/temporal/download.mjs';
import { TEMPORAL_CLI_VERSION } from '../../scripts/engines/temporal.mjs';
import { useTempFolders, writeProgram } from './temp-folder.mjs';

const tempFolder = useTempFolders();
const servers = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** Speaks the service's wire: first where the archive is and what to take from it, then the archive. */
async function startService({ archive, status = 200 }) {
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

function packProgram() {
  const folder = tempFolder();
  writeProgram(folder, 'temporal', 'temporal version 1.8.2');
  return execFileSync('tar', ['-cz', '-C', folder, 'temporal']);
}

/** Pins this archive as that of 1.8.2 for this system. */
function pin(archive) {
  const checksum = createHash('sha256').update(archive).digest('hex');
  return { '1.8.2': { [`${process.platform}-${process.arch}`]: checksum } };
}

const download = (service, target, { isTemporal = async () => true, checksums } = {}) =>
  downloadTemporal({
    ...{ service, target, isTemporal, checksums, version: '1.8.2' },
    progress: { update() {} },
  });

test('the program of the archive ends up at the target, and nothing else is left', async () => {
  const archive = packProgram();
  const { service, asked } = await startService({ archive });
  const folder = tempFolder();
  await download(service, join(folder, 'temporal'), { checksums: pin(archive) });
  expect(readFileSync(join(folder, 'temporal'), 'utf8')).toContain('temporal version 1.8.2');
  expect(readdirSync(folder)).toEqual(['temporal']);
  expect(asked[0]).toMatch(/^\/cli\/v1\.8\.2\?arch=(amd64|arm64)&platform=\w+&format=tar\.gz$/);
});

test.each([
  ['an answer without the archive', { status: 404 }, 'answered 404'],
  ['a body that is not an archive', { archive: 'no archive' }, 'unpacking failed'],
])('%s leaves nothing behind', async (_name, behaviour, reason) => {
  const { service } = await startService(behaviour);
  const folder = tempFolder();
  const checksums = pin(behaviour.archive ?? '');
  const refused = download(service, join(folder, 'temporal'), { checksums });
  await expect(refused).rejects.toThrow(reason);
  expect(readdirSync(folder)).toEqual([]);
});

test('a program that does not run here is not kept', async () => {
  const archive = packProgram();
  const { service } = await startService({ archive });
  const target = join(tempFolder(), 'temporal');
  const isTemporal = async () => false;
  const refused = download(service, target, { isTemporal, checksums: pin(archive) });
  await expect(refused).rejects.toThrow('does not run here');
  expect(existsSync(target)).toBe(false);
});

test('an archive that is not the pinned one is not even run', async () => {
  const { service } = await startService({ archive: packProgram() });
  const folder = tempFolder();
  let runs = 0;
  const isTemporal = async () => (runs += 1) > 0;
  const refused = download(service, join(folder, 'temporal'), { isTemporal });
  await expect(refused).rejects.toThrow('another checksum than it should');
  expect(runs).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('a version without a pinned checksum is not downloaded', async () => {
  const { service, asked } = await startService({ archive: packProgram() });
  const refused = download(service, join(tempFolder(), 'temporal'), { checksums: {} });
  await expect(refused).rejects.toThrow('no checksum is known for 1.8.2');
  expect(asked).toEqual([]);
});

test('the version that is downloaded has a checksum for each system', () => {
  const pinned = ARCHIVE_CHECKSUMS[TEMPORAL_CLI_VERSION];
  const systems = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
  expect(Object.keys(pinned).sort()).toEqual(systems);
  for (const checksum of Object.values(pinned)) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
});

test('a service that cannot be reached is named in the error', async () => {
  const unreachable = download('http://127.0.0.1:1/cli', join(tempFolder(), 'temporal'));
  await expect(unreachable).rejects.toThrow('temporal.download cannot be reached');
});
