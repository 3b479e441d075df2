import { randomBytes } from 'node:crypto';
import type { Identity } from '../../../api/identity.js';
import type { ApiLimits } from '../../../api/middleware/limits.js';
import { codec } from '../../../extensions/codec/index.js';
import type { CodecPayloads } from '../../../extensions/codec/routes.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { startApi, type ApiServer } from '../../api/api-server.js';

const encrypting = codec([{ id: 'new', key: randomBytes(32) }]);

let api: ApiServer;
let trail: MemoryStores['store']['audit'];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain: CodecPayloads = {
  payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64('"a secret"') }],
};

async function startFor(
  caller: Partial<Identity>,
  extension = encrypting,
  limits: ApiLimits = {},
): Promise<void> {
  const stores = createMemoryStores();
  trail = stores.store.audit;
  api = await startApi({
    stores,
    authenticate: () => ({ userId: 'ann', ...caller }),
    extensions: [extension],
    limits,
  });
}

async function ask(act: string, body: object): Promise<[status: number, reply: CodecPayloads]> {
  const reply = await api.post(`/api/operator/codec/${act}`, body);
  return [reply.status, (await reply.json()) as CodecPayloads];
}

describe('the codec server', () => {
  it('decodes what it has encoded, in the form of Temporal’s UI', async () => {
    expect(encrypting).toMatchObject({ name: 'codec', payloadCodec: expect.any(Object) });
    await startFor({ roles: ['viewer'] });
    const [status, encoded] = await ask('encode', plain);
    expect(status).toBe(200);
    expect(encoded.payloads[0]?.metadata).toMatchObject({ encoding: base64('binary/encrypted') });
    expect(JSON.stringify(encoded)).not.toContain(base64('"a secret"'));
    expect(await ask('decode', encoded)).toEqual([200, plain]);
    const { entries } = await trail.page(undefined, { limit: 10 });
    expect(entries.map(({ entry, name }) => [name, entry.action, entry.detail])).toEqual([
      ['ann', 'read', { what: 'decodePayloads' }],
    ]);
  });

  it('decodes a whole history, for which the UI asks once for each event', async () => {
    await startFor({ roles: ['viewer'] }, encrypting, { requestsPerMinute: 1 });
    for (let n = 0; n < 3; n += 1) expect(await ask('decode', plain)).toEqual([200, plain]);
  });

  it('lets the page of Temporal’s UI ask from its own origin', async () => {
    const origin = 'https://temporal.test';
    api = await startApi({ extensions: [encrypting], allowedOrigins: [origin] });
    const { headers } = await fetch(`${api.url}/api/operator/codec/decode`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    const allowed = headers.get('access-control-allow-headers')?.split(',');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'x-namespace']),
    );
  });

  it('payloads from before the codec stay readable', async () => {
    await startFor({ roles: ['operator'] });
    expect(await ask('decode', plain)).toEqual([200, plain]);
    expect(await ask('decode', { payloads: [{}] })).toEqual([
      200,
      { payloads: [{ metadata: {} }] },
    ]);
  });

  it.each([
    ['without a role', {}],
    ['of a tenant, since histories are of all tenants', { roles: ['operator'], tenantId: 'acme' }],
  ] as const)('a user %s decodes nothing', async (_what, caller) => {
    const [encoded] =
      (await encrypting.payloadCodec?.encode([{ data: Buffer.from('"a secret"') }])) ?? [];
    const data = Buffer.from(encoded?.data ?? '').toString('base64');
    await startFor(caller);
    expect((await ask('decode', { payloads: [{ data }] }))[0]).toBe(403);
  });

  it('without keys there is no codec', async () => {
    await startFor({ roles: ['operator'] }, codec());
    expect((await ask('decode', plain))[0]).toBe(404);
  });

  it('a payload that was changed, or whose key is unknown, is refused without details', async () => {
    await startFor({ roles: ['operator'] });
    const [, { payloads }] = await ask('encode', plain);
    const [first] = payloads;
    const changed = { payloads: [{ ...first, data: base64('something else that was there') }] };
    const unknown = {
      payloads: [
        { ...first, metadata: { ...first?.metadata, 'encryption-key-id': base64('gone') } },
      ],
    };
    for (const body of [changed, unknown]) {
      const [status, reply] = await ask('decode', body);
      expect([status, reply]).toMatchObject([400, { code: 'validation_error' }]);
      expect(JSON.stringify(reply)).not.toContain('gone');
    }
    expect((await ask('decode', { payloads: [{ data: 'no base64!' }] }))[0]).toBe(400);
  });
});
