import http from 'node:http';
import { createFetchFile } from '../../activities/model/fetch-file.js';
import { isPermitted } from '../../agents/guarded-lookup.js';
import { listen } from '../support/listen.js';

/** Files by https address. The server speaks http: only the encryption is left out. */
let port = 0;
let host = '';
const asked: string[] = [];

beforeAll(async () => {
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    const to = new URLSearchParams(request.url?.split('?')[1]).get('to');
    if (to !== null) response.writeHead(302, { location: to }).end();
    else if (request.url === '/large') response.end(Buffer.alloc(11 * 1024 * 1024));
    else if (request.url === '/missing') response.writeHead(404).end();
    else response.end('bytes');
  });
  ({ port } = await listen(server));
  host = `files.example:${String(port)}`;
});

const request = ((url: URL, options: http.RequestOptions, done: never) =>
  http.request(new URL(url.href.replace('https:', 'http:')), options, done)) as never;
const toHere = ((_: string, options: { all?: boolean }, callback: (...args: unknown[]) => void) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
}) as never;
const never = new AbortController().signal;
const fetched = (path: string): Promise<Uint8Array> =>
  createFetchFile({ hosts: [host], request, lookup: toHere })(`https://${host}${path}`, never);

describe('a file by its https address', () => {
  it('is fetched from a host of the list, also after a redirect to one', async () => {
    expect(Buffer.from(await fetched('/file')).toString()).toBe('bytes');
    const moved = await fetched(`/moved?to=${encodeURIComponent('/file')}`);
    expect(Buffer.from(moved).toString()).toBe('bytes');
  });

  it.each([
    ['another host', 'https://elsewhere.example/'],
    ['another port', 'https://files.example:1/'],
    ['no https', 'http://HOST/'],
    ['a private address', 'https://127.0.0.1/'],
    ['the address of a cloud’s metadata', 'https://169.254.169.254/'],
    ['a private address of IPv6', 'https://[::ffff:10.0.0.1]/'],
    ['a user', 'https://user@HOST/'],
    ['a password', 'https://:key@HOST/'],
  ])('is not fetched after a redirect to %s', async (_, to) => {
    const before = asked.length;
    const target = encodeURIComponent(to.replace('HOST', host));
    await expect(fetched(`/moved?to=${target}`)).rejects.toThrow(/list/);
    expect(asked.length).toBe(before + 1);
  });

  it('is refused if it is too large, missing, or led on without end', async () => {
    await expect(fetched('/large')).rejects.toThrow(/too large/);
    await expect(fetched('/missing')).rejects.toThrow(/404/);
    const loop = `/moved?to=${encodeURIComponent('/moved?to=/moved%3Fto%3D%2Fmoved%253Fto%253D%252Fa')}`;
    await expect(fetched(loop.replace('%252Fa', '%252Fmoved%25253Fto%25253Da'))).rejects.toThrow();
  });

  it('is not fetched by a name of a list that resolves to a private address', async () => {
    const own = `localhost:${String(port)}`;
    const before = asked.length;
    const fetch = createFetchFile({ hosts: [own], request });
    await expect(fetch(`https://${own}/`, never)).rejects.toThrow(/not public/);
    expect(asked.length).toBe(before);
  });
});

it.each([
  ['93.184.216.34', false, false, true],
  ['10.0.0.1', false, true, false],
  ['10.0.0.1', true, false, false],
  ['10.0.0.1', true, true, true],
  ['169.254.169.254', true, true, false],
])('a name at %s, named %s, private %s, is permitted: %s', (address, isNamed, isPrivate, is) => {
  expect(isPermitted('a.example', address, { isNamed, isPrivate })).toBe(is);
});
