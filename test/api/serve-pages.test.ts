import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi, type ApiServer } from './api-server.js';

let folder: string;
let api: ApiServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'helix-pages-'));
  writeFileSync(join(folder, 'index.html'), 'a page of its own');
  api = await startApi({ webRoot: folder });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function follow(path: string, { url } = api): Promise<[number, string | null]> {
  const response = await fetch(url + path, { redirect: 'manual' });
  return [response.status, response.headers.get('location')];
}

it('without a console, the link of a notice leads to its conversation, and nowhere else', async () => {
  expect(await follow('/console/waiting/s-1')).toEqual([302, '/?session=s-1']);
  expect(await follow('/console/runs/s-1%3A2-abc')).toEqual([302, '/?session=s-1']);
  const mounted = await startApi({ webRoot: folder, at: '/ai' });
  expect(await follow('/ai/console/waiting/s-1', mounted)).toEqual([302, '/ai/?session=s-1']);
  for (const path of [
    '',
    '/agents',
    '/waiting/a%2F%2Fevil.test',
    '/waiting/a%26b',
    '/runs/%0d%0a',
  ]) {
    expect(await follow(`/console${path}`)).toEqual([404, null]);
  }
});

it('a console that is there is served under each of its addresses', async () => {
  writeFileSync(join(folder, 'console.html'), 'the console');
  for (const path of ['', '/waiting/s-1', '/runs/s-1%3A2-abc', '/agents']) {
    expect(await (await api.get(`/console${path}`)).text()).toBe('the console');
  }
});
