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
const STOP = '/api/chat/$/stop';

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

type Bytes = Uint8Array<ArrayBuffer>;
/** A body that any reply may answer. */
const answered = (name: string, body: () => Bytes, path?: string): HostileBody => ({
  name,
  body,
  ...(path !== undefined && { path }),
});
const refused = (name: string, body: () => Bytes, path?: string): HostileBody => ({
  ...answered(name, body, path),
  statuses: REFUSED,
});
const tooLarge = (name: string, body: () => Bytes): HostileBody => ({
  ...answered(name, body),
  statuses: [413],
});
const PENDING = '/api/chat/$/pending/c1';
/** An answer to a call of a conversation that does not exist. */
const unanswered = (name: string, body: () => Bytes): HostileBody => ({
  ...answered(name, body, PENDING),
  statuses: [404, 413],
});

const lists = [
  refused('numbers as messages', () => chat(list('1'))),
  refused('empty objects as messages', () => chat(list('{}'))),
  refused('empty lists as messages', () => chat(list('[]'))),
  refused('1 MB of numbers', () => chat(list('1', MB))),
  refused('numbers, as many as may be', () => chat(list('1', 2 * MANY - 100))),
  refused('faulty parts', () =>
    chat(`[{"id":"u1","role":"user","parts":${list('1', 2 * MANY - 100)}}]`),
  ),
  refused('faulty parts without end', () =>
    chat(`[{"id":"u1","role":"user","parts":${list('1')}}]`),
  ),
  refused('small valid messages', () => messages(130_000, 'hello', '')),
  answered('small valid messages, as many as may be', () => messages(14_000, 'hello')),
  answered('a thousand messages', () => messages(990, 'x'.repeat(16_000))),
  answered('a hundred messages', () => messages(100, 'x'.repeat(160_000))),
  answered('fifteen large messages', () => messages(15, 'x'.repeat(MB - 200))),
  answered('many valid parts', () => {
    const parts = numbered(33_000, () => '{"type":"text","text":"x"}');
    return chat(`[{"id":"u1","role":"user","parts":[${parts}]}]`);
  }),
  answered('many parts of a reply', () =>
    chat(`[${assistant(list('{"type":"x"}', 13 * 49_000))},${userText('u1', 'hi')}]`),
  ),
  answered('many answers', () => {
    const rest = '"state":"output-available","output":1';
    const toPart = (n: number) => `{"type":"dynamic-tool","toolCallId":"c${String(n)}",${rest}}`;
    return chat(`[${assistant(`[${numbered(19_000, toPart)}]`)}]`);
  }),
];

const strings = [
  tooLarge('one message', () => messages(1, fill('x'))),
  tooLarge('one message of emoji', () => messages(1, fill('💥'))),
  tooLarge('one message of quotes', () => messages(1, fill('\\"'))),
  tooLarge('one message of backslashes', () => messages(1, fill('\\\\'))),
  tooLarge('one message of escapes', () => messages(1, fill('\\u0001'))),
  tooLarge('one message of half characters', () => messages(1, fill('\\ud800'))),
  {
    name: 'an old reply',
    body: () => {
      const text = `{"type":"text","text":"${fill('💥')}\\ud800"}`;
      return chat(`[${assistant(`[${text}]`)},${userText('u1', 'hi')}]`);
    },
    statuses: [200],
  },
  refused('bytes that are no text', () => new Uint8Array(FULL).fill(0xff)),
  refused('a string of bytes that are no text', () => {
    const body = new Uint8Array(FULL).fill(0xff);
    body.set(bytes('{"message":"'));
    body.set(bytes('"}'), FULL - 2);
    return body;
  }),
  refused('an id', () => messages(1, 'x', `${userText(fill('x'), 'x')},`)),
  refused('a role', () => chat(`[{"id":"u1","role":"${fill('x')}"}]`)),
  refused('an agent', () => bytes(`{"agent":"${fill('x')}","messages":[${userText('u1', 'x')}]}`)),
  refused('a number', () => chat(`[${fill('1')}]`)),
  refused('spaces', () => bytes(fill(' '), '1')),
  refused('a string without end', () => bytes('{"messages":"', fill('\\"'))),
  refused('a message named in a stop', () => bytes(`{"reason":"${fill('x')}"}`), STOP),
].map((body) => ({ ...body, name: `a long string: ${body.name}` }));

const keys = [
  refused('one key', () => bytes(`{"${fill('x')}":1}`)),
  refused('one key of emoji', () => bytes(`{"${fill('💥')}":1}`)),
  answered('many keys', () => withMetadata(manyKeys(140))),
  answered('many keys, with half a character', () =>
    withMetadata(manyKeys(140, (n) => `\\ud800${String(n)}`)),
  ),
  answered('many keys that are numbers', () =>
    withMetadata(manyKeys(0, (n) => String((n % 16_384) * 262_144 + Math.floor(n / 16_384)))),
  ),
  refused('many unknown keys', () => bytes(manyKeys(140))),
  refused('many unknown keys of an answer', () => bytes(manyKeys(140)), PENDING),
  {
    ...answered('many unknown keys of a stop', () => bytes(manyKeys(140)), STOP),
    statuses: [400, 404],
  },
  refused('one key of many messages', () =>
    chat(`[${numbered(33_000, (n) => `{"k${String(n)}":1}`)}]`),
  ),
];

const shapes = [
  refused('lists in lists', () => bytes(nested(8 * MB - 100))),
  refused('lists that are never closed', () => bytes(fill('['))),
  refused('objects that are never closed', () => bytes(fill('{"a":'))),
  answered('lists as deep as may be', () => withMetadata(`[${numbered(190, () => nested(490))}]`)),
  refused('closing brackets', () => bytes(fill(']'))),
  refused('colons', () => bytes(fill(':'))),
  refused('commas', () => bytes('[', fill(','))),
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

const START = '/api/agent/start';
const elsewhere = [
  unanswered('a result', () => bytes(`{"result":${list('1', 2 * MANY - 100)}}`)),
  unanswered('a long result', () => bytes(`{"result":"${fill('\\u0001')}"}`)),
  unanswered('an input', () => bytes(`{"approved":true,"input":${manyKeys(140)}}`)),
  refused(
    'messages of a program',
    () => bytes(`{"agent":"lab","message":${list('1', 2 * MANY - 100)}}`),
    START,
  ),
  answered(
    'valid messages of a program',
    () => bytes(`{"agent":"lab","message":${list('{"content":"x"}', 16 * 33_000)}}`),
    START,
  ),
  refused(
    'faulty parts of a program',
    () => bytes(`{"agent":"lab","message":{"parts":${list('{"type":1}', 11 * 49_000)}}}`),
    START,
  ),
  answered('a state', () => bytes(`{"agent":"lab","message":"x","state":${manyKeys(140)}}`), START),
  answered(
    'metadata of a program',
    () => bytes(`{"agent":"lab","message":"x","metadata":${manyKeys(140)}}`),
    START,
  ),
  {
    ...tooLarge('a text of a program', () => bytes(`{"agent":"lab","message":"${fill('x')}"}`)),
    path: START,
  },
  refused('another try', () => bytes(`{"checkpointId":"${fill('x')}"}`), '/api/chat/$/retry'),
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

const COMPLETIONS = '/v1/chat/completions';
const AG_UI = '/api/ag-ui/lab';
const manyTexts = (): string => `[${numbered(33_000, () => '{"type":"text","text":"x"}')}]`;

/** Messages in the shapes of other protocols. */
const fronts = [
  answered(
    'many messages of a completion',
    () =>
      bytes(
        `{"model":"lab","messages":[${numbered(33_000, () => '{"role":"user","content":"x"}')}]}`,
      ),
    COMPLETIONS,
  ),
  answered('many parts of a completion', () => completion(manyTexts()), COMPLETIONS),
  answered(
    'an image in a completion',
    () => completion(`[{"type":"image_url","image_url":{"url":"${dataUrl()}"}}]`),
    COMPLETIONS,
  ),
  answered(
    'many calls of a completion',
    () => {
      const rest = '"type":"function","function":{"name":"a","arguments":"{}"}';
      const calls = numbered(16_000, (n) => `{"id":"c${String(n)}",${rest}}`);
      const asked = `{"role":"assistant","tool_calls":[${calls}]}`;
      return bytes(`{"model":"lab","messages":[${asked},{"role":"user","content":"x"}]}`);
    },
    COMPLETIONS,
  ),
  answered(
    'many messages of AG-UI',
    () => agUi(`[${numbered(24_000, (n) => `{"id":"${String(n)}","role":"user","content":"x"}`)}]`),
    AG_UI,
  ),
  answered(
    'a long message of AG-UI',
    () => agUi(`[{"id":"u1","role":"user","content":"${fill('\\u0001')}"}]`),
    AG_UI,
  ),
  answered(
    'many parts of AG-UI',
    () => agUi(`[{"id":"u1","role":"user","content":${manyTexts()}}]`),
    AG_UI,
  ),
  answered('a file in a message', () => {
    const file = `{"type":"file","mediaType":"image/png","url":"${dataUrl()}"}`;
    return chat(`[{"id":"u1","role":"user","parts":[${file}]}]`);
  }),
  answered('many files in a message', () => {
    const file = '{"type":"file","mediaType":"image/png","url":"data:image/png;base64,iVBORw0K"}';
    return chat(`[{"id":"u1","role":"user","parts":[${numbered(24_000, () => file)}]}]`);
  }),
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
  ...strings,
  ...keys,
  ...shapes,
  ...elsewhere,
  ...fronts,
];

/** Every member of every body of the API, in each shape, for `npm run bodies -- --all`. */
export const BODIES_OF_ROUTES: readonly HostileBody[] = createOfRoutes();
