// A Model Context Protocol server on stdio that misbehaves as its mode says; `answerOf` serves the
// same behaviour over HTTP.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const object = { type: 'object', properties: { text: { type: 'string' } } };
const readOnly = { readOnlyHint: true };
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const PIXEL = 'iVBORw0KGgo=';

const TOOLS = [
  { name: 'look', description: 'Looks.', inputSchema: object, annotations: readOnly },
  { name: 'change', description: 'Changes.', inputSchema: object },
  { name: 'image', inputSchema: object, annotations: readOnly },
  { name: 'fail', inputSchema: object, annotations: readOnly },
  { name: 'big', inputSchema: object, annotations: readOnly },
  { name: 'slow', inputSchema: object, annotations: readOnly },
  { name: 'die', inputSchema: object },
  { name: 'die-once', inputSchema: object, annotations: readOnly },
  { name: 'odd', inputSchema: object, annotations: readOnly },
  { name: 'refuse', inputSchema: object, annotations: readOnly },
];

/** Tools whose results, or the messages sent along with them, are the trouble. */
const STRANGE = ['deep', 'halves', 'infinite', 'twice', 'asks', 'pings', 'named', 'cut', 'look'];

const LISTS = {
  strange: () => STRANGE.map((name) => ({ name, inputSchema: object, annotations: readOnly })),
  flood: () => Array.from({ length: 10_000 }, (_, n) => ({ name: `t${n}`, inputSchema: object })),
  many: () => Array.from({ length: 200 }, (_, n) => ({ name: `t${n}`, inputSchema: object })),
  duplicates: () => [TOOLS[0], TOOLS[0]],
  lies: () => [
    TOOLS[0],
    { name: 'no-schema' },
    { name: 'text-schema', inputSchema: 'object' },
    { name: 'array-schema', inputSchema: { type: 'array' } },
    { name: 'deep', inputSchema: { type: 'object', properties: nested(200) } },
    { name: 'large', inputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
    { name: '', inputSchema: object },
    { name: 'a b.c/d', inputSchema: object, annotations: { readOnlyHint: 'yes' } },
    'no tool',
    null,
  ],
  changing: (n) => [{ ...TOOLS[0], name: `look${n}` }],
  odd: () => 'no list',
  pages: (_, { cursor = 0 } = {}) => [[TOOLS[0]], [], [TOOLS[1]]][cursor],
  stuck: () => [TOOLS[0], TOOLS[1]],
  torn: (_, { cursor = 0 } = {}) => [[TOOLS[0]], 'no list'][cursor],
  alike: () =>
    ['a.b', 'a/b', 'a_b', 'n'.repeat(200), 'a.b'].map((name) => ({ name, inputSchema: object })),
  endless: () => [{ name: `p${Math.random()}`, inputSchema: object }],
};

function nested(depth) {
  return depth === 0 ? {} : { properties: nested(depth - 1) };
}

/** Answers one request: a result, an error, or undefined for silence. `leave` ends the server. */
export function answerOf(mode, { leave, note }) {
  let lists = 0;
  /** Keys of the calls in which it has died. */
  const deaths = new Set();
  return ({ method, params }) => {
    if (method === 'initialize') {
      if (mode === 'no-initialize') return undefined;
      const { protocolVersion } = params;
      const serverInfo = { name: 'hostile', version: '1' };
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    if (method === 'tools/list') {
      if (mode === 'no-list') return undefined;
      lists += 1;
      const tools = (LISTS[mode] ?? (() => TOOLS))(lists, params);
      const page = Number(params?.cursor ?? 0) + 1;
      const hasNext = mode === 'endless' || (mode === 'pages' && page < 3);
      if (mode === 'stuck') return { result: { tools, nextCursor: 'more' } };
      if (mode === 'torn') return { result: { tools, nextCursor: page === 1 ? '1' : null } };
      return { result: { tools, ...(hasNext && { nextCursor: `${page}` }) } };
    }
    if (method !== 'tools/call') return { error: { code: -32601, message: 'unknown method' } };
    const { name, arguments: input = {}, _meta } = params;
    const key = _meta?.['helix-temporal/idempotency-key'] ?? '';
    note(`${name} ${key}`);
    switch (name.replace(/\d+$/, '')) {
      case 'image':
        return {
          result: {
            content: [{ type: 'image', mimeType: 'image/png', data: PIXEL }, { type: 'x' }],
          },
        };
      case 'fail':
        return {
          result: { ...text(`no: ${process.env.SECRET ?? input.text ?? ''}`), isError: true },
        };
      case 'big':
        return { result: text('x'.repeat(5 * 1024 * 1024)) };
      case 'slow':
        return undefined;
      case 'die':
        return leave();
      case 'die-once':
        if (deaths.has(key) || process.env.DIED) return { result: text('survived') };
        deaths.add(key);
        return leave();
      case 'odd':
        return { result: { content: 'no list' } };
      case 'deep':
        return {
          raw: `{"content":[],"structuredContent":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
        };
      case 'halves':
        return { raw: '{"content":[{"type":"text","text":"half \\ud83d\\u0000 \\udc00"}]}' };
      case 'infinite':
        return { raw: '{"content":[],"structuredContent":{"n":1e999,"big":12345678901234567890}}' };
      case 'refuse':
        return { error: { code: -32602, message: `secret ${process.env.SECRET ?? ''}` } };
      default:
        return { result: { ...text(`did ${name} ${input.text ?? ''}`), structuredContent: input } };
    }
  };
}

const [, program, mode = '', notes = ''] = process.argv;
if (program?.endsWith('hostile-mcp.mjs')) {
  const note = (line) => notes && appendFileSync(notes, `${line}\n`);
  const answer = answerOf(mode, { note, leave: () => process.exit(1) });
  process.stderr.write(`started with ${process.env.SECRET ?? 'nothing'}\n`);
  note('started');
  let answers = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.method === 'notifications/cancelled') note('cancelled');
    if (request.error !== undefined) note(`${request.id} ${request.error.code}`);
    if (request.result !== undefined) answers += 1;
    if (request.id?.length > 1_000) note(`an id of ${request.id.length}`);
    if (request.id === undefined || request.method === undefined) continue;
    if (mode === 'garbage') process.stdout.write('{"this is": no JSON\n\u0000\u0001\n[]\n');
    const reply = answer(request);
    if (reply === undefined) continue;
    const { id } = request;
    const { raw, ...rest } = reply;
    const whole = JSON.stringify({ jsonrpc: '2.0', id, ...rest });
    const written = raw === undefined ? whole : `${whole.slice(0, -1)},"result":${raw}}`;
    const { name } = request.params ?? {};
    if (name === 'look' && answers > 0) note(`answers ${answers}`);
    if (name === 'cut') {
      process.stdout.write(written.slice(0, -20), () => process.exit(1));
      continue;
    }
    if (name === 'twice') {
      const other = { jsonrpc: '2.0', id: 999_999, result: text('of no call') };
      process.stdout.write(`${JSON.stringify(other)}\n${written}\n`);
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('later') })}\n`);
      continue;
    }
    const asks =
      { asks: ['sampling/createMessage', 'roots/list', 'elicitation/create'] }[name] ?? [];
    const pings = name === 'pings' ? Array.from({ length: 10_000 }, () => 'ping') : [];
    for (const [at, method] of [...asks, ...pings].entries()) {
      const params = { messages: [], maxTokens: 1, message: 'Password?', requestedSchema: object };
      process.stdout.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: `own-${at}`, method, params })}\n`,
      );
    }
    if (name === 'named') {
      for (const long of ['x'.repeat(5_000), 'last'])
        process.stdout.write(
          `${JSON.stringify({ jsonrpc: '2.0', id: long, method: 'sampling/no' })}\n`,
        );
    }
    // This side reads nothing until the other side has read all pings.
    if (pings.length > 0) await new Promise((read) => process.stdout.write('\n', read));
    if (pings.length > 0) await new Promise((later) => setTimeout(later, 500));
    process.stdout.write(`${written}\n`);
  }
  if (answers > 0) note(`answers ${answers}`);
}
