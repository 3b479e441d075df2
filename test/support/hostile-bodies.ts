import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { OPEN_API } from './all-routes.js';
import { ASKED, ASKED_BY_OPERATORS } from '../api/route-requests.js';

/** A request body that costs its reader more than its sender. */
export interface HostileBody {
  name: string;
  method?: string;
  /** Absolute path; `$` stands for an unused session id. Default: the path of a chat. */
  path?: string;
  headers?: Record<string, string>;
  body: () => Uint8Array<ArrayBuffer>;
  statuses?: readonly number[];
}

const MB = 1024 * 1024;
/** Largest filling that leaves room for the rest of the body. */
const FULL = 16 * MB - 4_096;
const REFUSED = [400, 413];

const bytes = (...texts: string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(texts.join('')));

/** Repeats a text as often as it fits into `size` bytes. */
const fill = (text: string, size = FULL): string =>
  text.repeat(Math.floor(size / Buffer.byteLength(text)));

/** Returns a list of as many values as fit. */
const list = (item: string, size = FULL): string => `[${fill(`${item},`, size)}${item}]`;

const chat = (messages: string): Uint8Array<ArrayBuffer> => bytes(`{"messages":${messages}}`);
const userText = (id: string, text: string): string =>
  `{"id":"${id}","role":"user","parts":[{"type":"text","text":"${text}"}]}`;
const withMetadata = (json: string): Uint8Array<ArrayBuffer> =>
  chat(`[{"id":"u1","role":"user","content":"hi","metadata":${json}}]`);
const numbered = (count: number, toItem: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => toItem(n)).join(',');
const nested = (depth: number, inner = ''): string =>
  `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

/** Just below the limit on the number of values. */
const MANY = 99_900;
const messages = (count: number, text: string, before = ''): Uint8Array<ArrayBuffer> =>
  chat(`[${before}${numbered(count, (n) => userText(`u${String(n)}`, text))}]`);
const assistant = (parts: string): string => `{"id":"msg-1","role":"assistant","parts":${parts}}`;
const manyKeys = (size: number, toKey = (n: number) => `k${String(n)}`): string =>
  `{${numbered(MANY, (n) => `"${toKey(n)}${'x'.repeat(size)}":1`)}}`;

const lists: HostileBody[] = [
  { name: 'numbers as messages', body: () => chat(list('1')), statuses: REFUSED },
  { name: 'empty objects as messages', body: () => chat(list('{}')), statuses: REFUSED },
  { name: 'empty lists as messages', body: () => chat(list('[]')), statuses: REFUSED },
  { name: '1 MB of numbers', body: () => chat(list('1', MB)), statuses: REFUSED },
  {
    name: 'numbers, as many as may be',
    body: () => chat(list('1', 2 * MANY - 100)),
    statuses: REFUSED,
  },
  {
    name: 'faulty parts',
    body: () => chat(`[{"id":"u1","role":"user","parts":${list('1', 2 * MANY - 100)}}]`),
    statuses: REFUSED,
  },
  {
    name: 'faulty parts without end',
    body: () => chat(`[{"id":"u1","role":"user","parts":${list('1')}}]`),
    statuses: REFUSED,
  },
  { name: 'small valid messages', body: () => messages(130_000, 'hello', ''), statuses: REFUSED },
  { name: 'small valid messages, as many as may be', body: () => messages(14_000, 'hello') },
  { name: 'a thousand messages', body: () => messages(990, 'x'.repeat(16_000)) },
  { name: 'a hundred messages', body: () => messages(100, 'x'.repeat(160_000)) },
  { name: 'fifteen large messages', body: () => messages(15, 'x'.repeat(MB - 200)) },
  {
    name: 'many valid parts',
    body: () =>
      chat(
        `[{"id":"u1","role":"user","parts":[${numbered(33_000, () => '{"type":"text","text":"x"}')}]}]`,
      ),
  },
  {
    name: 'many parts of a reply',
    body: () => chat(`[${assistant(list('{"type":"x"}', 13 * 49_000))},${userText('u1', 'hi')}]`),
  },
  {
    name: 'many answers',
    body: () =>
      chat(
        `[${assistant(
          `[${numbered(
            19_000,
            (n) =>
              `{"type":"dynamic-tool","toolCallId":"c${String(n)}","state":"output-available","output":1}`,
          )}]`,
        )}]`,
      ),
  },
];

const strings: HostileBody[] = [
  { name: 'one message', body: () => messages(1, fill('x')), statuses: [413] },
  { name: 'one message of emoji', body: () => messages(1, fill('💥')), statuses: [413] },
  { name: 'one message of quotes', body: () => messages(1, fill('\\"')), statuses: [413] },
  { name: 'one message of backslashes', body: () => messages(1, fill('\\\\')), statuses: [413] },
  { name: 'one message of escapes', body: () => messages(1, fill('\\u0001')), statuses: [413] },
  {
    name: 'one message of half characters',
    body: () => messages(1, fill('\\ud800')),
    statuses: [413],
  },
  {
    name: 'an old reply',
    body: () =>
      chat(
        `[${assistant(`[{"type":"text","text":"${fill('💥')}\\ud800"}]`)},${userText('u1', 'hi')}]`,
      ),
    statuses: [200],
  },
  {
    name: 'bytes that are no text',
    body: () => new Uint8Array(FULL).fill(0xff),
    statuses: REFUSED,
  },
  {
    name: 'a string of bytes that are no text',
    body: () => {
      const body = new Uint8Array(FULL).fill(0xff);
      body.set(bytes('{"message":"'));
      body.set(bytes('"}'), FULL - 2);
      return body;
    },
    statuses: REFUSED,
  },
  {
    name: 'an id',
    body: () => messages(1, 'x', `${userText(fill('x'), 'x')},`),
    statuses: REFUSED,
  },
  { name: 'a role', body: () => chat(`[{"id":"u1","role":"${fill('x')}"}]`), statuses: REFUSED },
  {
    name: 'an agent',
    body: () => bytes(`{"agent":"${fill('x')}","messages":[${userText('u1', 'x')}]}`),
    statuses: REFUSED,
  },
  { name: 'a number', body: () => chat(`[${fill('1')}]`), statuses: REFUSED },
  { name: 'spaces', body: () => bytes(fill(' '), '1'), statuses: REFUSED },
  {
    name: 'a string without end',
    body: () => bytes('{"messages":"', fill('\\"')),
    statuses: REFUSED,
  },
  {
    name: 'a message named in a stop',
    path: '/api/chat/$/stop',
    body: () => bytes(`{"reason":"${fill('x')}"}`),
    statuses: REFUSED,
  },
];

const keys: HostileBody[] = [
  { name: 'one key', body: () => bytes(`{"${fill('x')}":1}`), statuses: REFUSED },
  { name: 'one key of emoji', body: () => bytes(`{"${fill('💥')}":1}`), statuses: REFUSED },
  { name: 'many keys', body: () => withMetadata(manyKeys(140)) },
  {
    name: 'many keys, with half a character',
    body: () => withMetadata(manyKeys(140, (n) => `\\ud800${String(n)}`)),
  },
  {
    name: 'many keys that are numbers',
    body: () =>
      withMetadata(manyKeys(0, (n) => String((n % 16_384) * 262_144 + Math.floor(n / 16_384)))),
  },
  { name: 'many unknown keys', body: () => bytes(manyKeys(140)), statuses: REFUSED },
  {
    name: 'many unknown keys of an answer',
    path: '/api/chat/$/pending/c1',
    body: () => bytes(manyKeys(140)),
    statuses: REFUSED,
  },
  {
    name: 'many unknown keys of a stop',
    path: '/api/chat/$/stop',
    body: () => bytes(manyKeys(140)),
    statuses: [400, 404],
  },
  {
    name: 'one key of many messages',
    body: () => chat(`[${numbered(33_000, (n) => `{"k${String(n)}":1}`)}]`),
    statuses: REFUSED,
  },
];

const shapes: HostileBody[] = [
  { name: 'lists in lists', body: () => bytes(nested(8 * MB - 100)), statuses: REFUSED },
  { name: 'lists that are never closed', body: () => bytes(fill('[')), statuses: REFUSED },
  { name: 'objects that are never closed', body: () => bytes(fill('{"a":')), statuses: REFUSED },
  {
    name: 'lists as deep as may be',
    body: () => withMetadata(`[${numbered(190, () => nested(490))}]`),
  },
  { name: 'closing brackets', body: () => bytes(fill(']')), statuses: REFUSED },
  { name: 'colons', body: () => bytes(fill(':')), statuses: REFUSED },
  { name: 'commas', body: () => bytes('[', fill(',')), statuses: REFUSED },
  {
    name: 'something packed',
    headers: { 'content-encoding': 'gzip' },
    body: () => new Uint8Array(gzipSync(chat(list('1')))),
    statuses: [400, 413, 415],
  },
  {
    name: 'much packed into little',
    headers: { 'content-encoding': 'gzip' },
    body: () => new Uint8Array(gzipSync(Buffer.alloc(200 * MB, ' '))),
    statuses: [413, 415],
  },
];

const elsewhere: HostileBody[] = [
  {
    name: 'a result',
    path: '/api/chat/$/pending/c1',
    body: () => bytes(`{"result":${list('1', 2 * MANY - 100)}}`),
    statuses: [404, 413],
  },
  {
    name: 'a long result',
    path: '/api/chat/$/pending/c1',
    body: () => bytes(`{"result":"${fill('\\u0001')}"}`),
    statuses: [404, 413],
  },
  {
    name: 'an input',
    path: '/api/chat/$/pending/c1',
    body: () => bytes(`{"approved":true,"input":${manyKeys(140)}}`),
    statuses: [404, 413],
  },
  {
    name: 'messages of a program',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":${list('1', 2 * MANY - 100)}}`),
    statuses: REFUSED,
  },
  {
    name: 'valid messages of a program',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":${list('{"content":"x"}', 16 * 33_000)}}`),
  },
  {
    name: 'faulty parts of a program',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":{"parts":${list('{"type":1}', 11 * 49_000)}}}`),
    statuses: REFUSED,
  },
  {
    name: 'a state',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":"x","state":${manyKeys(140)}}`),
  },
  {
    name: 'metadata of a program',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":"x","metadata":${manyKeys(140)}}`),
  },
  {
    name: 'a text of a program',
    path: '/api/agent/start',
    body: () => bytes(`{"agent":"lab","message":"${fill('x')}"}`),
    statuses: [413],
  },
  {
    name: 'another try',
    path: '/api/chat/$/retry',
    body: () => bytes(`{"checkpointId":"${fill('x')}"}`),
    statuses: REFUSED,
  },
];

/** Returns a form with as many parts, or headers of one part, as fit into an upload of 10 MB. */
const form = (head: string, repeated: string): HostileBody => ({
  name: `a form of ${head}`,
  path: '/api/chat/$/files',
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
  body: () => bytes(fill(repeated, 10 * MB - 1_000), '\r\n--x--\r\n'),
  statuses: [400],
});
const FILE_HEAD = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n';

const forms: HostileBody[] = [
  form('empty files', `${FILE_HEAD}\r\n\r\n`),
  form('empty fields', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'),
  form('parts without a head', '--x\r\n\r\n\r\n'),
  form('boundaries', '\r\n--x'),
  {
    ...form('headers', ''),
    body: () => bytes(FILE_HEAD, fill('a: b\r\n', 10 * MB - 1_000)),
  },
  {
    ...form('one header', ''),
    body: () => bytes(FILE_HEAD, 'a: ', fill('b', 10 * MB - 1_000)),
  },
  {
    ...form('half boundaries', ''),
    body: () => bytes(FILE_HEAD, '\r\n', fill('\r\n--', 10 * MB - 1_000)),
  },
];

const completion = (content: string): Uint8Array<ArrayBuffer> =>
  bytes(`{"model":"lab","messages":[{"role":"user","content":${content}}]}`);
const agUi = (messages: string): Uint8Array<ArrayBuffer> =>
  bytes(`{"threadId":"${crypto.randomUUID()}","runId":"r1","messages":${messages}}`);
const dataUrl = (): string => `data:image/png;base64,${fill('iVBORw0K', 15 * MB)}`;

/** Messages in the shapes of other protocols. */
const fronts: HostileBody[] = [
  {
    name: 'many messages of a completion',
    path: '/v1/chat/completions',
    body: () =>
      bytes(
        `{"model":"lab","messages":[${numbered(33_000, () => '{"role":"user","content":"x"}')}]}`,
      ),
  },
  {
    name: 'many parts of a completion',
    path: '/v1/chat/completions',
    body: () => completion(`[${numbered(33_000, () => '{"type":"text","text":"x"}')}]`),
  },
  {
    name: 'an image in a completion',
    path: '/v1/chat/completions',
    body: () => completion(`[{"type":"image_url","image_url":{"url":"${dataUrl()}"}}]`),
  },
  {
    name: 'many calls of a completion',
    path: '/v1/chat/completions',
    body: () =>
      bytes(
        `{"model":"lab","messages":[{"role":"assistant","tool_calls":[${numbered(
          16_000,
          (n) =>
            `{"id":"c${String(n)}","type":"function","function":{"name":"a","arguments":"{}"}}`,
        )}]},{"role":"user","content":"x"}]}`,
      ),
  },
  {
    name: 'many messages of AG-UI',
    path: '/api/ag-ui/lab',
    body: () =>
      agUi(`[${numbered(24_000, (n) => `{"id":"${String(n)}","role":"user","content":"x"}`)}]`),
  },
  {
    name: 'a long message of AG-UI',
    path: '/api/ag-ui/lab',
    body: () => agUi(`[{"id":"u1","role":"user","content":"${fill('\\u0001')}"}]`),
  },
  {
    name: 'many parts of AG-UI',
    path: '/api/ag-ui/lab',
    body: () =>
      agUi(
        `[{"id":"u1","role":"user","content":[${numbered(33_000, () => '{"type":"text","text":"x"}')}]}]`,
      ),
  },
  {
    name: 'a file in a message',
    body: () =>
      chat(
        `[{"id":"u1","role":"user","parts":[{"type":"file","mediaType":"image/png","url":"${dataUrl()}"}]}]`,
      ),
  },
  {
    name: 'many files in a message',
    body: () =>
      chat(
        `[{"id":"u1","role":"user","parts":[${numbered(
          24_000,
          () => '{"type":"file","mediaType":"image/png","url":"data:image/png;base64,iVBORw0K"}',
        )}]}]`,
      ),
  },
];

/** Values that replace each member of each body. */
const VALUES: Record<string, () => string> = {
  numbers: () => list('1', 2 * MANY - 100),
  objects: () => list('{"id":1}', 9 * 49_000),
  texts: () => list(`"${'x'.repeat(150)}"`),
  keys: () => manyKeys(140),
  depth: () => `[${numbered(190, () => nested(480))}]`,
  escapes: () => `"${fill('\\u0001')}"`,
  letters: () => `"${fill('x')}"`,
};

const PACKED: Record<string, (content: Uint8Array) => Uint8Array> = {
  gzip: (content) => gzipSync(content, { level: 1 }),
  deflate: (content) => deflateSync(content, { level: 1 }),
  br: (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  identity: (content) => content,
};

/** Creates bodies from the API's description: each member of each body, packed in turns. */
function createOfRoutes(): HostileBody[] {
  const { paths, components } = OPEN_API as unknown as OpenApi;
  const schemaOf = ({ $ref = '', ...schema }: Schema): Schema =>
    $ref === '' ? schema : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema === undefined) return [];
      const { properties, anyOf = [] } = schemaOf(schema);
      const members = [properties ?? {}, ...anyOf.map((each) => schemaOf(each).properties ?? {})];
      const names = new Set(members.flatMap((each) => Object.keys(each)));
      const valid = ASKED[operationId]?.('s1').body ?? ASKED_BY_OPERATORS[operationId]?.body ?? {};
      return (names.size === 0 ? ['body'] : [...names]).flatMap((name) =>
        Object.entries(VALUES).map(([kind, toValue]) => ({
          method,
          path,
          name: `${operationId}, ${name}: ${kind}`,
          toText: () => {
            const others = Object.entries(valid).filter(([key]) => key !== name);
            const rest = others.map(([key, value]) => `,"${key}":${JSON.stringify(value)}`);
            return `{"${name}":${toValue()}${rest.join('')}}`;
          },
        })),
      );
    }),
  );
  return bodies.map(({ toText, path, ...body }, nth) => {
    const [encoding, pack] = Object.entries(PACKED)[nth % 4] ?? ['identity', (all) => all];
    return {
      ...body,
      path: path
        .replace('{sessionId}', '$')
        .replace('{agent}', 'lab')
        .replace(/\{\w+\}/g, 'x'),
      headers: { 'content-encoding': encoding },
      body: () => new Uint8Array(pack(Buffer.from(toText()))),
    };
  });
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}
interface OpenApi {
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; requestBody?: { content: Record<string, { schema: Schema }> } }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

/** Bodies of every kind that is known to be expensive, each as large as the API accepts. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  ...forms,
  ...lists,
  ...strings.map((body) => ({ ...body, name: `a long string: ${body.name}` })),
  ...keys,
  ...shapes,
  ...elsewhere,
  ...fronts,
];

/** Every member of every body of the API, in each shape, for `npm run bodies -- --all`. */
export const BODIES_OF_ROUTES: readonly HostileBody[] = createOfRoutes();
