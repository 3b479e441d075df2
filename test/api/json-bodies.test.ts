import fc from 'fast-check';
import { createJsonMeter, type JsonBounds } from '../../api/middleware/json-body.js';
import { LIMITS } from '../../protocol/limits.js';
import { connectRaw } from '../support/raw-http.js';
import { startApi, type ApiServer } from './api-server.js';
import { createGreeter, head, MB } from './posted-json.js';

let api: ApiServer;
beforeAll(async () => {
  api = await startApi(createGreeter(), { defaultAgent: 'lab' });
});
afterAll(() => api.close());

describe('JSON', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const post = (metadata: string, headers: Record<string, string> = {}): Promise<Response> =>
    api.post(
      `/api/chat/${crypto.randomUUID()}`,
      `{"messages":[{"id":"u1","role":"user","content":"hi","metadata":{"a":${metadata}}}]}`,
      headers,
    );

  it.each([LIMITS.jsonDepth, 10_000, 2_000_000])(
    'JSON that is nested %d deep is refused',
    async (depth) => {
      const response = await post(nested(depth));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'validation_error',
        error: 'The request body is nested too deeply.',
      });
    },
  );

  it('JSON of the greatest depth is accepted', async () => {
    const response = await post(nested(LIMITS.jsonDepth - 4));
    expect(response.status).toBe(200);
    await response.text();
  });

  it('JSON of another encoding is refused, since the depth check would not see its brackets', async () => {
    const response = await fetch(`${api.url}/api/chat/s1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-16le' },
      body: new Uint8Array(Buffer.from('{"messages":[]}', 'utf16le')),
    });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ code: 'unsupported_media_type' });
  });

  it('JSON with too many values is refused long before its end', async () => {
    const connection = await connectRaw(api.url);
    connection.send(head(`content-length: ${String(15 * MB)}`));
    connection.send(`{"messages":[${'1,'.repeat(LIMITS.jsonValues)}`);
    const { status, body } = await connection.reply;
    expect([status, JSON.parse(body)]).toEqual([
      413,
      { error: 'The request body has too many JSON values.', code: 'body_too_large' },
    ]);
    await connection.closed;
  });

  it('JSON with the greatest number of values is accepted', async () => {
    // The body, its list, the message with four, and the metadata.
    const response = await post(`[${'1,'.repeat(LIMITS.jsonValues - 9)}1]`);
    expect(response.status).toBe(200);
    await response.text();
  });

  it.each([1, 2, 3, 7, 100])(
    'JSON in pieces of %d bytes has the depth and values of the whole',
    (size) => {
      const anyJson = fc.jsonValue({ maxDepth: 5 });
      const check = (value: unknown, space: number): void => {
        const json = Buffer.from(JSON.stringify(value, undefined, space));
        const values = countValues(value);
        expect(findExcess(json, { depth: 100, values }, size)).toBeUndefined();
        expect(findExcess(json, { depth: 100, values: values - 1 }, size)).toBe('values');
        const depth = depthOf(value);
        expect(findExcess(json, { depth, values }, size)).toBeUndefined();
        if (depth > 0) expect(findExcess(json, { depth: depth - 1, values }, size)).toBe('depth');
      };
      for (const hard of ['"', '\\', '\\"', '[{,:}]', { '"': ['\\'] }, {}, [[], {}]])
        check(hard, 0);
      fc.assert(fc.property(anyJson, fc.nat(2), check));
    },
  );

  it.each([
    ['[[]]', 1, true],
    ['[[]]', 2, false],
    ['[[],[],{}]', 2, false],
    ['"[[[["', 1, false],
    [String.raw`["\"[[[", [1]]`, 1, true],
    [String.raw`["\\", "[["]`, 1, false],
    ['["never closed [[[[', 1, false],
    ['{"a":{"b":[1]}}', 2, true],
    ['', 1, false],
  ])('%s is compared with a depth of %d', (json, limit, isDeeper) => {
    const measure = createJsonMeter({ depth: limit, values: Infinity });
    expect(measure(Buffer.from(json))).toBe(isDeeper ? 'depth' : undefined);
  });
});

/** The bound that a text in pieces exceeds, if any. */
function findExcess(json: Buffer, bounds: JsonBounds, size: number): string | undefined {
  const measure = createJsonMeter(bounds);
  for (let at = 0; at < json.length; at += size) {
    const excess = measure(json.subarray(at, at + size));
    if (excess !== undefined) return excess;
  }
  return undefined;
}

function membersOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function countValues(value: unknown): number {
  return membersOf(value).reduce<number>((sum, inner) => sum + countValues(inner), 1);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...membersOf(value).map(depthOf));
}
