import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { downloadTemporal } from '../../scripts/engines/temporal/download.mjs';
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

const download = (service, target, isTemporal = async () => true) =>
  downloadTemporal({
    ...{ service, target, isTemporal, version: '1.8.2' },
    progress: { update() {} },
  });

test('the program of the archive ends up at the target, and nothing else is left', async () => {
  const { service, asked } = await startService({ archive: packProgram() });
  const folder = tempFolder();
  await download(service, join(folder, 'temporal'));
  expect(readFileSync(join(folder, 'temporal'), 'utf8')).toContain('temporal version 1.8.2');
  expect(readdirSync(folder)).toEqual(['temporal']);
  expect(asked[0]).toMatch(/^\/cli\/v1\.8\.2\?arch=(amd64|arm64)&platform=\w+&format=tar\.gz$/);
});

test.each([
  ['an answer without the archive', { status: 404 }, 'answered 404'],
  ['an archive that is none', { archive: 'no archive' }, 'unpacking failed'],
])('%s leaves nothing behind', async (_name, behaviour, reason) => {
  const { service } = await startService(behaviour);
  const folder = tempFolder();
  await expect(download(service, join(folder, 'temporal'))).rejects.toThrow(reason);
  expect(readdirSync(folder)).toEqual([]);
});

test('a program that does not run here is not kept', async () => {
  const { service } = await startService({ archive: packProgram() });
  const target = join(tempFolder(), 'temporal');
  const refused = download(service, target, async () => false);
  await expect(refused).rejects.toThrow('does not run here');
  expect(existsSync(target)).toBe(false);
});

test('a service that cannot be reached is said so', async () => {
  const unreachable = download('http://127.0.0.1:1/cli', join(tempFolder(), 'temporal'));
  await expect(unreachable).rejects.toThrow('temporal.download cannot be reached');
});
