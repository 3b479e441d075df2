import type { UploadedFile } from '../../../protocol/replies.js';
import { AgentRegistry } from '../../../agents/index.js';
import { createLabAgent } from '../../../examples/lab/agent.js';
import { limits, toQuotas } from '../../../extensions/limits/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import {
  createMemoryStores,
  type MemoryOptions,
  type MemoryStores,
} from '../../../store/memory/index.js';
import { createTestBucket } from '../../support/files-elsewhere.js';
import { startApi, type ApiServer, type StartOptions } from '../../api/api-server.js';

/** Serves conversations' files over HTTP, with an in-process executor behind the API. */
let stores: MemoryStores;
let executor: InProcessExecutor;
let api: ApiServer;

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function open(options: StartOptions = {}, memory: MemoryOptions = {}): Promise<void> {
  stores = createMemoryStores(memory);
  const agents = new AgentRegistry([createLabAgent({ countCharge: async () => 1 })]);
  const quotas = toQuotas({ bytes: 1_000_000 });
  executor = createInProcessExecutor({ agents, stores, extensions: [limits({ quotas })] });
  api = await startApi({
    executor: executor,
    stores,
    agents,
    allowUnauthenticated: false,
    authenticate: (request) => {
      const [userId = '', tenantId] = (request.get('x-user') ?? 'ann').split('@');
      const roles = userId === 'olga' ? (['operator'] as const) : [];
      return { userId, roles, ...(tenantId !== undefined && { tenantId }) };
    },
    ...options,
  });
}

beforeEach(() => open());
afterEach(() => executor.close());

const upload = (
  content: BodyInit = PNG,
  headers: Record<string, string> = {},
  path = '/api/chat/s1/files?filename=dot.png',
): Promise<Response> =>
  fetch(api.url + path, {
    method: 'POST',
    body: content,
    headers: { 'content-type': 'image/png', ...headers },
  });

async function uploaded(...args: Parameters<typeof upload>): Promise<UploadedFile> {
  const response = await upload(...args);
  expect(response.status).toBe(201);
  return (await response.json()) as UploadedFile;
}

const send = (parts: object[], id = 'u1', session = 's1'): Promise<Response> =>
  api.post(`/api/chat/${session}`, { agent: 'lab', messages: [{ id, role: 'user', parts }] });

const quote = { type: 'text', text: JSON.stringify({ script: [{ quote: true }] }) };
const toPart = ({ type, url, mediaType, filename }: UploadedFile): object => ({
  type,
  url,
  mediaType,
  filename,
});

/** Reads a reply's text, which quotes the model's prompt if the message asks for it. */
async function replyOf(response: Response): Promise<string> {
  const deltas = (await response.text()).matchAll(/^data: (\{.*\})$/gm);
  return Array.from(deltas, ([, json = '']) => JSON.parse(json) as { delta?: string })
    .map(({ delta = '' }) => delta)
    .join('');
}

describe('a file', () => {
  it('of another person, added under the same id before the first message, is in no message', async () => {
    const file = await uploaded(PNG, { 'x-user': 'bob' });
    const refused = await send([toPart(file), quote]);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { code: 'validation_error' },
    ]);
    expect(await stores.store.sessions.read('s1')).toBeUndefined();
  });

  it('is served to its owner before and after the first message, and not to others', async () => {
    const file = await uploaded();
    expect(file).toMatchObject({ type: 'file', mediaType: 'image/png', filename: 'dot.png' });
    const served = await api.get(file.url);
    expect(Buffer.from(await served.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': `inline; filename="dot.png"; filename*=UTF-8''dot.png`,
    });
    const strangers = ['bob', 'ann@acme', 'olga'];
    const asStrangers = async (): Promise<number[]> =>
      Promise.all(
        strangers.map(async (user) => (await api.get(file.url, { 'x-user': user })).status),
      );
    expect(await asStrangers()).toEqual([404, 404, 404]);
    await (await send([quote, toPart(file)])).text();
    expect((await api.get(file.url)).status).toBe(200);
    expect(await asStrangers()).toEqual([404, 404, 404]);
    expect((await upload(PNG, { 'x-user': 'bob' })).status).toBe(404);
  });

  it('that another user added before the conversation existed is gone once it does', async () => {
    const file = await uploaded(PNG, { 'x-user': 'bob' });
    await (await send([{ type: 'text', text: 'hello' }])).text();
    expect((await api.get(file.url)).status).toBe(404);
    expect((await api.get(file.url, { 'x-user': 'bob' })).status).toBe(404);
    expect(await stores.store.files.list('s1')).toEqual([]);
  });

  it('has a name that was cut within a character, and is served', async () => {
    const name = encodeURIComponent(`${'😀'.repeat(200)}a.png`);
    const file = await uploaded(PNG, {}, `/api/chat/s1/files?filename=${name}`);
    expect((await api.get(file.url)).status).toBe(200);
  });

  it('is given to the model as bytes, and stays a reference in the record', async () => {
    const file = await uploaded();
    const text = await uploaded('naïve, no?', { 'content-type': 'text/plain' });
    const reply = await replyOf(await send([quote, toPart(file), toPart(text)]));
    const messages = JSON.parse(reply) as { role: string; text: string; files?: string[] }[];
    expect(messages.at(-1)).toMatchObject({ files: [`image/png, ${String(PNG.length)} bytes`] });
    expect(messages.at(-1)?.text).toContain('[File "dot.png"]\nnaïve, no?');
    const snapshot = await (await api.get('/api/chat/s1/snapshot')).text();
    expect(snapshot).toContain(file.url);
    expect(snapshot).not.toContain('base64');
    expect(JSON.stringify(await stores.store.sessions.rows('s1', 0))).not.toContain('iVBOR');
  });

  it('that is gone is named to the model as gone', async () => {
    const file = await uploaded();
    await (await send([quote, toPart(file)])).text();
    const removed = await fetch(api.url + file.url, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    expect((await api.get(file.url)).status).toBe(404);
    // The API accepted the message, so a repeated post adds no message.
    expect((await send([quote, toPart(file)])).status).toBe(200);
    const reply = await replyOf(await send([quote], 'u2'));
    expect(reply).toContain('[The file \\"dot.png\\" is not there any more.]');
  });

  it('is erased with its conversation, and copied with a branch', async () => {
    const file = await uploaded();
    await (await send([quote, toPart(file)])).text();
    const branched = await api.post('/api/chat/s1/branch', { sessionId: 's2' });
    expect(branched.status).toBeLessThan(300);
    const copy = /\/api\/chat\/s2\/files\/[\w-]+/.exec(
      await (await api.get('/api/chat/s2/snapshot')).text(),
    )?.[0];
    const erased = await fetch(`${api.url}/api/chat/s1`, { method: 'DELETE' });
    expect(erased.status).toBe(204);
    expect((await api.get(file.url)).status).toBe(404);
    expect(await stores.store.files.content('s1', file.id, { from: 0, to: 1 })).toBeUndefined();
    const kept = await api.get(copy ?? '');
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(PNG);
    const reply = await replyOf(await send([quote], 'u9', 's2'));
    expect(reply).toContain(`image/png, ${String(PNG.length)} bytes`);
  });

  it('goes with the export of a person', async () => {
    const file = await uploaded();
    await (await send([quote, toPart(file)])).text();
    const exported = await api.get('/api/operator/users/ann/export', { 'x-user': 'olga' });
    const lines = (await exported.text()).split('\n');
    const line = lines.find((each) => each.includes('"type":"file","sessionId"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ data: PNG.toString('base64'), file: { bytes: 70 } });
  });
});

describe('a part of a file', () => {
  const content = Buffer.from(Array.from({ length: 600_000 }, (_, at) => at % 251));
  it.each([
    ['bytes=0-0', 206, 0, 1],
    ['bytes=1-262145', 206, 1, 262_146],
    ['bytes=-5', 206, 599_995, 600_000],
    ['bytes=-600001', 206, 0, 600_000],
    ['bytes=599999-', 206, 599_999, 600_000],
    ['bytes=0-1,5-6', 200, 0, 600_000],
    ['lines=1-2', 200, 0, 600_000],
  ])('%s', async (range, status, from, to) => {
    const file = await uploaded(content, { 'content-type': 'text/plain' });
    const response = await api.get(file.url, { range });
    expect(response.status).toBe(status);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content.subarray(from, to));
    expect(response.headers.get('content-range')).toBe(
      status === 206 ? `bytes ${String(from)}-${String(to - 1)}/600000` : null,
    );
    expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
  });

  it('beyond its end is refused, and what is known is not sent again', async () => {
    const { url } = await uploaded();
    const beyond = await api.get(url, { range: 'bytes=70-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */70']);
    const etag = (await api.get(url)).headers.get('etag') ?? '';
    const known = await api.get(url, { 'if-none-match': etag });
    expect(known.status).toBe(304);
    for (const { headers } of [beyond, known]) {
      const named = ['etag', 'cache-control'].map((name) => headers.get(name));
      expect(named).toEqual([etag, 'private, no-cache']);
    }
    const stale = { range: 'bytes=0-0', 'if-range': '"other"' };
    expect((await api.get(url, stale)).status).toBe(200);
    const head = await fetch(api.url + url, { method: 'HEAD' });
    expect([head.headers.get('content-length'), await head.text()]).toEqual(['70', '']);
  });
});

it('a store of the author’s own that fails is unavailable to those who ask for its files', async () => {
  const bucket = createTestBucket();
  await open({}, { files: bucket });
  const { url } = await uploaded();
  bucket.isAway = true;
  const removed = await fetch(api.url + url, { method: 'DELETE' });
  for (const refused of [removed, await upload(), await api.get(url)]) {
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'unavailable' }]);
  }
  bucket.isAway = false;
  expect((await api.get(url)).status).toBe(200);
});

it('a file whose bytes are gone is refused without its headers', async () => {
  const { url, id } = await uploaded();
  jest.spyOn(stores.store.files, 'content').mockResolvedValue(undefined);
  const refused = await api.get(url);
  expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'not_found' }]);
  const { headers } = refused;
  expect(headers.get('content-type')).toMatch('application/json');
  expect(headers.get('cache-control')).toBe('no-store');
  for (const name of ['etag', 'content-disposition', 'accept-ranges']) {
    expect([id, name, headers.get(name)]).toEqual([id, name, null]);
  }
});

it('a file whose store fails in the middle is cut off, and logged', async () => {
  const bucket = createTestBucket();
  await open({}, { files: bucket });
  const large = Buffer.alloc(600_000, 'a');
  const { url } = await uploaded(large, { 'content-type': 'text/plain' });
  const { read } = bucket;
  bucket.read = (place, range) => {
    bucket.isAway = range.from > 0;
    return read(place, range);
  };
  const reply = await api.get(url);
  expect([reply.status, reply.headers.get('content-length')]).toEqual([200, '600000']);
  await expect(reply.arrayBuffer()).rejects.toThrow('terminated');
  expect(api.logged).toEqual([expect.stringContaining(url)]);
});

it('a file counts among what its reader may read in a minute', async () => {
  await open({ limits: { readBytesPerMinute: 100 * 1024, requestsPerMinute: 0 } });
  const { url } = await uploaded(Buffer.alloc(250 * 1024, 'a'), { 'content-type': 'text/plain' });
  const read = await api.get(url);
  expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, 250 * 1024]);
  expect((await api.get(url)).status).toBe(429);
});

describe('what is refused', () => {
  const refusalOf = async (response: Response): Promise<unknown> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];

  it('a file that is too large, empty, or of another type', async () => {
    await open({ files: { maxBytes: 1000, types: ['image/*'] } });
    await uploaded(Buffer.concat([PNG], 1000));
    expect(await refusalOf(await upload(Buffer.alloc(1001)))).toEqual([413, 'body_too_large']);
    const sent = new Blob([PNG, Buffer.alloc(2000)]).stream();
    const streamed = { method: 'POST', body: sent, duplex: 'half' } as RequestInit;
    const headers = { 'content-type': 'image/png' };
    const unknown = await fetch(`${api.url}/api/chat/s1/files`, { ...streamed, headers });
    expect(await refusalOf(unknown)).toEqual([413, 'body_too_large']);
    const form = new FormData();
    form.append('file', new Blob([PNG, Buffer.alloc(1001 - PNG.length)], { type: 'image/png' }));
    const formed = await fetch(`${api.url}/api/chat/s1/files`, { method: 'POST', body: form });
    expect(await refusalOf(formed)).toEqual([413, 'body_too_large']);
    expect(await refusalOf(await upload(''))).toEqual([400, 'validation_error']);
    const typed = (type: string): Promise<Response> => upload(PNG, { 'content-type': type });
    expect(await refusalOf(await typed('text/html'))).toEqual([415, 'unsupported_media_type']);
    expect(await refusalOf(await typed('image/jpeg'))).toEqual([415, 'unsupported_media_type']);
    expect(await refusalOf(await typed('multipart/form-data; boundary=x'))).toEqual([
      400,
      'validation_error',
    ]);
  });

  it('more than the owner may have', async () => {
    const large = { 'content-type': 'text/plain' };
    await uploaded(Buffer.alloc(600_000, 'a'), large);
    const refused = await upload(Buffer.alloc(600_000, 'a'), large);
    expect(await refusalOf(refused)).toEqual([429, 'quota_exceeded']);
    await uploaded(Buffer.alloc(200_000, 'a'), large);
  });

  it('a message that names a file which is not there, or another conversation’s', async () => {
    const file = await uploaded();
    const unknown = `/api/chat/s1/files/${'0'.repeat(36)}`;
    const named = (url: string): object => ({ ...toPart(file), url });
    for (const part of [
      named(unknown),
      named('/api/chat/s2/files/../../x'),
      named('http://[::1'),
      named(`https://elsewhere.example${file.url}`),
      named('/api/config'),
    ]) {
      expect(await refusalOf(await send([quote, part]))).toEqual([400, 'validation_error']);
    }
    const elsewhere = await send([quote, toPart(file)], 'u1', 's2');
    expect(await refusalOf(elsewhere)).toEqual([400, 'validation_error']);
    const input = [{ parts: [named(unknown)] }, { parts: [quote] }];
    const started = await api.post('/api/agent/start', { sessionId: 's1', agent: 'lab', input });
    expect(await refusalOf(started)).toEqual([400, 'validation_error']);
    expect((await api.get('/api/chat/s1/snapshot')).status).toBe(404);
    // A page posts those that it still shows with the next.
    const shown = [[named('/api/config')], [named(unknown)], [quote]];
    const messages = shown.map((parts, at) => ({ id: `u${String(at)}`, role: 'user', parts }));
    const post = (more: object) => api.post('/api/chat/s1', { agent: 'lab', messages, ...more });
    expect(await refusalOf(await post({ messageId: 'u0' }))).toEqual([400, 'validation_error']);
    await replyOf(await post({}));
    expect(await stores.store.sessions.rows('s1', 0)).toMatchObject([
      { id: 'u2' },
      { role: 'assistant' },
    ]);
  });
});

it.each([
  ['six parts', Array.from({ length: 6 }, (_, n) => (n === 0 ? 'file' : `field${String(n)}`))],
  ['two files', ['file', 'file']],
])('a form of %s is refused: of a form only a few parts are read', async (_, names) => {
  const form = new FormData();
  for (const name of names) {
    form.append(name, name === 'file' ? new File([PNG], 'a.png', { type: 'image/png' }) : 'x');
  }
  const response = await fetch(`${api.url}/api/chat/s1/files`, { method: 'POST', body: form });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'validation_error' });
});

it('a form brings its file with its name', async () => {
  const form = new FormData();
  form.append('file', new File([PNG], '../"ä".png', { type: 'image/png' }));
  const response = await fetch(`${api.url}/api/chat/s1/files`, { method: 'POST', body: form });
  expect(response.status).toBe(201);
  const file = (await response.json()) as UploadedFile;
  const served = await api.get(file.url);
  expect(served.headers.get('content-disposition')).toContain("filename*=UTF-8''");
  expect(served.headers.get('content-disposition')).not.toContain('..');
});
