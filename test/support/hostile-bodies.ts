import { gzipSync } from 'node:zlib';

/** A body made to cost its reader more than it costs its sender. */
export interface HostileBody {
  name: string;
  /** Below `/api`; `$` stands for a session id that no other test uses. */
  path?: string;
  headers?: Record<string, string>;
  body: () => Uint8Array<ArrayBuffer>;
  /** The statuses that it may be answered with. */
  statuses?: readonly number[];
}

const MB = 1024 * 1024;
/** Below the limit, with what stands around. */
const FULL = 16 * MB - 4_096;
const REFUSED = [400, 413];

const bytes = (...texts: string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(texts.join('')));

/** As many copies as fit into so many bytes. */
const fill = (text: string, size = FULL): string =>
  text.repeat(Math.floor(size / Buffer.byteLength(text)));

/** A list of as many values as fit. */
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

/** Just below the number of values that are taken. */
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
    path: 'chat/$/stop',
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
    path: 'chat/$/pending/c1',
    body: () => bytes(manyKeys(140)),
    statuses: REFUSED,
  },
  {
    name: 'many unknown keys of a stop',
    path: 'chat/$/stop',
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
    path: 'chat/$/pending/c1',
    body: () => bytes(`{"result":${list('1', 2 * MANY - 100)}}`),
    statuses: [404, 413],
  },
  {
    name: 'a long result',
    path: 'chat/$/pending/c1',
    body: () => bytes(`{"result":"${fill('\\u0001')}"}`),
    statuses: [404, 413],
  },
  {
    name: 'an input',
    path: 'chat/$/pending/c1',
    body: () => bytes(`{"approved":true,"input":${manyKeys(140)}}`),
    statuses: [404, 413],
  },
  {
    name: 'messages of a program',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":${list('1', 2 * MANY - 100)}}`),
    statuses: REFUSED,
  },
  {
    name: 'valid messages of a program',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":${list('{"content":"x"}', 16 * 33_000)}}`),
  },
  {
    name: 'faulty parts of a program',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":{"parts":${list('{"type":1}', 11 * 49_000)}}}`),
    statuses: REFUSED,
  },
  {
    name: 'a state',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":"x","state":${manyKeys(140)}}`),
  },
  {
    name: 'metadata of a program',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":"x","metadata":${manyKeys(140)}}`),
  },
  {
    name: 'a text of a program',
    path: 'agent/start',
    body: () => bytes(`{"agent":"lab","message":"${fill('x')}"}`),
    statuses: [413],
  },
  {
    name: 'another try',
    path: 'chat/$/retry',
    body: () => bytes(`{"checkpointId":"${fill('x')}"}`),
    statuses: REFUSED,
  },
];

/** Bodies of every kind that is known to cost much, each as large as the API accepts. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  ...lists,
  ...strings.map((body) => ({ ...body, name: `a long string: ${body.name}` })),
  ...keys,
  ...shapes,
  ...elsewhere,
];
