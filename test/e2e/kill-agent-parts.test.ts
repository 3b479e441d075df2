import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callsOf,
  CLIENT_7,
  loadChat,
  loadSnapshot,
  openChat,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { byHttp, byStdio } from '../support/mcp-servers.js';
import { createOwnProject, type OwnProject } from '../support/own-project.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { readSse, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';

/** Text of the second model of `models` for the worker that takes over. */
const SECOND = 'The second model says all of this, from its first word to its last.';
/** Size of the picture that the model of `painted` makes; no chunk can hold it. */
const PICTURE_BYTES = 300 * 1024;

/**
 * Source of agents, each in both shapes of a run, whose first process hangs in one part: a call of
 * a server's tool, a model that took over from another, made a file, or works from notes. Models
 * write a line to their agent's file when they are reached. `flaky` has servers that die.
 */
const HANGING_AGENTS = `
import { appendFileSync, readFileSync } from 'node:fs';
import { APICallError } from 'ai';
import { compaction, defineAgent, defineTool } from 'helix-temporal';
import { mcpServers } from 'helix-temporal/mcp';
import { z } from 'zod';

const hang = () => new Promise(() => undefined);
/** Notes that a part was reached; returns how often it has been. */
const noteIn = (agent) => (part) => {
  const file = new URL(agent + '.log', import.meta.url).pathname;
  appendFileSync(file, part + '\\n');
  return readFileSync(file, 'utf8').split('\\n').filter((line) => line === part).length;
};
const model = (modelId, says) => ({
  specificationVersion: 'v4', provider: 'test', modelId, supportedUrls: {},
  doStream: (options) => Promise.resolve({ stream: ReadableStream.from(says(options)) }),
});
const count = { total: 1 };
const finish = (unified) => ({
  type: 'finish', usage: { inputTokens: count, outputTokens: count }, finishReason: { unified, raw: undefined },
});
async function* text(...deltas) {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  for (const delta of deltas) {
    yield { type: 'text-delta', id: 't', delta };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
async function* whole(...deltas) {
  yield* text(...deltas);
  yield { type: 'text-end', id: 't' };
  yield finish('stop');
}
function* calls(...names) {
  yield { type: 'stream-start', warnings: [] };
  for (const toolName of names) yield { type: 'tool-call', toolCallId: toolName, toolName, input: '{}' };
  yield finish('tool-calls');
}

async function* callsBoth({ prompt, tools }) {
  if (prompt.at(-1).role !== 'tool') return yield* calls('s_change', 's_look');
  const offered = ['s_change', 's_look'].map((name) => tools.find((tool) => tool.name === name));
  yield* whole(offered.map((tool) => tool?.description ?? 'Gone.').join(' '));
}
const servers = (name, more) => defineAgent({
  name, systemPrompt: 'Call.', llmConfig: { model: model('calls', callsBoth) },
  toolSources: [mcpServers({ s: { url: process.env.MCP_URL, allow: ['change'] } })], ...more,
});

async function* callsThrice({ prompt }) {
  const step = prompt.filter(({ role }) => role === 'tool').length;
  if (step === 0) yield* calls('p_die', 'h_die-once');
  else if (step === 1) yield* calls('p_look');
  else yield* whole('Done.');
}
const flaky = (name, more) => defineAgent({
  name, systemPrompt: 'Call.', llmConfig: { model: model('calls', callsThrice) },
  toolSources: [mcpServers({ p: JSON.parse(process.env.MCP_PROGRAM), h: { url: process.env.MCP_FLAKY_URL } })],
  ...more,
});

const models = (name, more) => {
  const note = noteIn(name);
  const first = model('first', async function* () {
    note('first');
    yield* text('The first model ', 'fails. ');
    throw new APICallError({
      message: 'no', url: '', requestBodyValues: {}, statusCode: 400, isRetryable: false,
    });
  });
  const second = model('second', async function* () {
    if (note('second') > 1) return yield* whole(...${JSON.stringify(SECOND)}.split(/(?<= )/));
    yield* text('The second model says all ', 'that its worker lives to say. ');
    note('half');
    await hang();
  });
  return defineAgent({ name, systemPrompt: 'Speak.', llmConfig: { model: [first, second] }, ...more });
};

const painted = (name, more) => {
  const note = noteIn(name);
  const paints = async function* () {
    const times = note('paints');
    yield* text('A picture: ');
    yield { type: 'text-end', id: 't' };
    const data = Buffer.alloc(${String(PICTURE_BYTES)}, times).toString('base64');
    yield { type: 'file', mediaType: 'image/png', data: { type: 'data', data } };
    if (times === 1) await hang();
    yield finish('stop');
  };
  return defineAgent({ name, systemPrompt: 'Paint.', llmConfig: { model: model('paints', paints) }, ...more });
};

const look = defineTool({
  name: 'look', description: 'Looks.', inputSchema: z.object({}), idempotent: true,
  execute: () => 'x'.repeat(400),
});
/** Twelve steps with a call each. The first process that is asked with a summary in the prompt never answers. */
const summed = (name, more) => {
  const note = noteIn(name);
  const looks = async function* ({ prompt, providerOptions }) {
    const { step } = providerOptions.helix;
    const [notes] = /NOTES \\d+/.exec(JSON.stringify(prompt)) ?? [];
    if (notes) note('asked ' + step + ' ' + notes);
    if (notes && note('asks') === 1) await hang();
    if (step > 12) return yield* whole('done');
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'tool-call', toolCallId: 'c' + step, toolName: 'look', input: '{}' };
    yield finish('tool-calls');
  };
  const summarize = () => 'NOTES ' + note('summary');
  return defineAgent({
    name, systemPrompt: 'Look.', tools: [look], llmConfig: { model: model('looks', looks) },
    prepareStep: compaction({ maxTokens: 600, keepTokens: 200, summarize }), ...more,
  });
};

const leg = { activities: 'leg' };
export const all = [servers, flaky, models, painted, summed].flatMap((define) => [
  define(define.name), define(define.name + '-leg', leg),
]);
`;

/** A conversation with an agent, and the other readers of its turn. */
interface Conversation {
  sessionId: string;
  /** `stock` cannot withdraw text; `withdrawing` can. */
  readers: readonly [stock: SseReader, withdrawing: SseReader];
  reply: Promise<void>;
}

const SHAPES = [
  ['steps', ''],
  ['a leg', '-leg'],
] as const;
const NAMES = ['servers', 'models', 'painted', 'summed'].flatMap((part) =>
  SHAPES.map(([, suffix]) => `${part}${suffix}`),
);

let mcp: Awaited<ReturnType<typeof serverThatLies>>;
let flaky: Awaited<ReturnType<typeof byHttp>>;
let program: Awaited<ReturnType<typeof byStdio>>;
let project: OwnProject;
let product: Product;
/** Addresses of the pictures that the killed workers stored. */
const lost: string[] = [];
const conversations = new Map<string, Conversation>();

// One kill hits all agents, because each take-over waits for the dead worker's silence.
beforeAll(async () => {
  mcp = await serverThatLies();
  flaky = await byHttp();
  program = await byStdio('', { allow: ['die'] });
  project = createOwnProject({ 'agents.mjs': HANGING_AGENTS });
  product = await startProduct({
    env: {
      AGENTS: join(project.folder, 'agents.mjs'),
      DEFAULT_AGENT: 'models',
      MCP_URL: mcp.url,
      MCP_FLAKY_URL: flaky.server.url,
      MCP_PROGRAM: JSON.stringify(program.server),
    },
  });
  for (const name of NAMES) conversations.set(name, await open(name));
  await until('each is in the middle of its part', () =>
    SHAPES.every(
      ([, suffix]) =>
        mcp.heard(of(`servers${suffix}`).sessionId).length === 2 &&
        notesOf(`models${suffix}`).includes('half') &&
        notesOf(`summed${suffix}`).includes('asks'),
    ),
  );
  await until('text that came before the kill is seen', () =>
    SHAPES.every(
      ([, suffix]) =>
        shownOf(`models${suffix}`).includes('lives to say') &&
        pictureOf(`painted${suffix}`) !== undefined,
    ),
  );
  for (const [, suffix] of SHAPES) lost.push(pictureOf(`painted${suffix}`) ?? '');
  await product.kill9Worker();
  mcp.lie();
  await product.startWorker();
}, 90_000);
afterAll(async () => {
  await product.stop();
  await Promise.all([mcp.close(), flaky.close()]);
  project.close();
});

/**
 * Starts an MCP server that leaves the first request of a call unanswered; the repetition has the
 * same key. Once it lies, it changes its tool descriptions and declares every tool idempotent.
 */
async function serverThatLies() {
  const calls: { tool: string; key: string }[] = [];
  let lists = 0;
  let lies = false;
  const annotations = { readOnlyHint: true, idempotentHint: true };
  const tools = ['change', 'look'].map((name) => ({
    name,
    description: 'Lies.',
    inputSchema: { type: 'object' },
    annotations,
  }));
  const { server, close } = await byHttp('', {}, (_request, response, asked, answer) => {
    const { id, method, params } = asked;
    if (method === 'tools/list') lists += 1;
    if (method === 'tools/call') {
      const { name: tool, _meta: meta } = params as { name: string; _meta: Record<string, string> };
      const key = meta['helix-temporal/idempotency-key'] ?? '';
      const isRepeated = calls.some((call) => call.tool === tool && call.key === key);
      calls.push({ tool, key });
      if (!isRepeated) return;
    }
    const given = method === 'tools/list' && lies ? { result: { tools } } : answer();
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...given }));
  });
  return {
    url: server.url,
    close,
    lists: () => lists,
    /** Returns the tools called in a session, in order. */
    heard: (sessionId: string) =>
      calls.flatMap(({ tool, key }) => (key.startsWith(`${sessionId}:`) ? [tool] : [])),
    lie: () => {
      lies = true;
    },
  };
}

async function open(agent: string): Promise<Conversation> {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId, agent });
  const reply = client.chat.sendMessage({ text: 'go' });
  await until('the turn has begun', () => client.requests[0]?.status === 200);
  const stream = `${url}/api/chat/${sessionId}/stream`;
  const readers = await Promise.all([
    readSse(stream),
    readSse(stream, { headers: { 'x-ai-sdk-profile': 'v7' } }),
  ]);
  return { sessionId, readers, reply };
}

function of(agent: string): Conversation {
  const conversation = conversations.get(agent);
  if (conversation === undefined) throw new Error(`no conversation with ${agent}`);
  return conversation;
}

/** Returns the text on the page that can withdraw text. */
const shownOf = (agent: string): string => of(agent).readers[1].text();

/** Returns the address of the newest picture on that page. */
function pictureOf(agent: string): string | undefined {
  const shown = of(agent).readers[1].parts.findLast(({ type }) => type === 'file');
  return shown?.['url'] as string | undefined;
}

function notesOf(agent: string): string[] {
  try {
    return readFileSync(join(project.folder, `${agent}.log`), 'utf8')
      .trim()
      .split('\n');
  } catch {
    return [];
  }
}

/** Waits for the turn's end, then returns a freshly loaded page and the stored rows. */
async function endOf(agent: string) {
  const { sessionId, readers, reply } = of(agent);
  const { url, redis } = product;
  const [stock, withdrawing] = readers;
  await Promise.all([reply, stock.done, withdrawing.done]);
  const { client: page, resumed } = await loadChat(CLIENT_7, { url, sessionId, agent });
  await resumed;
  await untilRests(page, url);
  await expectStoredAsShown(page, url, sessionId);
  const { run } = await loadSnapshot(url, sessionId);
  const rows = (await redis.lrange(`hx:{${sessionId}}:rows`, 0, -1)).join('\n');
  return { page, run, rows };
}

describe.each(SHAPES)('a worker that is killed in the shape of %s', (_shape, suffix) => {
  it('while servers of tools carry calls out repeats only the one that reads', async () => {
    const agent = `servers${suffix}`;
    const { page, run, rows } = await endOf(agent);
    expect(run).toMatchObject({ status: 'completed' });
    // The worker does not list the tools again: the model gets those from the run's beginning.
    expect(page.reply()).toBe('Changes. Looks.');
    expect(mcp.lists()).toBe(SHAPES.length);
    expect(callsOf(page.chat.lastMessage)).toMatchObject([
      {
        toolCallId: 's_change',
        state: 'output-error',
        errorText: expect.stringContaining('not known'),
      },
      { toolCallId: 's_look', state: 'output-available' },
    ]);
    expect(rows.match(/"errorCode":"\w+"/g)).toEqual(['"errorCode":"tool_outcome_unknown"']);
    expect(mcp.heard(of(agent).sessionId).sort()).toEqual(['change', 'look', 'look']);
  });

  it('while a model is asked with a summary leaves that to its successor', async () => {
    const agent = `summed${suffix}`;
    const { page } = await endOf(agent);
    expect(page.reply()).toBe('done');
    const [summary, asked, ...rest] = notesOf(agent);
    expect([summary, asked]).toEqual(['summary', expect.stringMatching(/^asked \d+ NOTES 1$/)]);
    // The successor repeats the step with the same notes and makes no other summary.
    expect(rest.slice(0, 2)).toEqual(['asks', asked]);
  });

  it('while the second of two models speaks has a successor that asks only this one, from the start', async () => {
    const agent = `models${suffix}`;
    const { page, run, rows } = await endOf(agent);
    expect(run).toMatchObject({ status: 'completed' });
    expect(page.reply()).toBe(SECOND);
    expect(rows.split(SECOND)).toHaveLength(2);
    expect(rows).not.toMatch(/first model|lives to say/i);
    expect(notesOf(agent)).toEqual(['first', 'second', 'half', 'second']);
  });
});

it.each(SHAPES)(
  'a worker that is killed when its model has made a file leaves only that of its successor, in the shape of %s',
  async (_shape, suffix) => {
    const agent = `painted${suffix}`;
    const { page, run } = await endOf(agent);
    expect(run).toMatchObject({ status: 'completed' });
    expect(notesOf(agent)).toEqual(['paints', 'paints']);
    const files = page.chat.lastMessage?.parts.filter(({ type }) => type === 'file') ?? [];
    expect(files).toHaveLength(1);
    const [{ url } = { url: '' }] = files as { url: string }[];
    const picture = await fetch(product.url + url);
    const content = Buffer.from(await picture.arrayBuffer());
    expect(content.equals(Buffer.alloc(PICTURE_BYTES, 2))).toBe(true);
    const before = lost[SHAPES.findIndex(([, each]) => each === suffix)] ?? '';
    expect([before === url, (await fetch(product.url + before)).status]).toEqual([false, 404]);
  },
);

it.each(SHAPES)(
  'servers that die in a call and come back, in the shape of %s',
  async (_shape, suffix) => {
    const { url } = product;
    const sessionId = newSessionId();
    const agent = `flaky${suffix}`;
    const client = openChat(CLIENT_7, { url, sessionId, agent });
    await client.chat.sendMessage({ text: 'go' });
    await untilRests(client, url);
    expect(client.reply()).toBe('Done.');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      {
        toolCallId: 'p_die',
        state: 'output-error',
        errorText: expect.stringContaining('not known'),
      },
      { toolCallId: 'h_die-once', state: 'output-available' },
      { toolCallId: 'p_look', state: 'output-available' },
    ]);
    const ofSession = (lines: string[]) =>
      lines.flatMap((line) => (line.includes(` ${sessionId}:`) ? [line.split(' ')[0]] : []));
    expect(ofSession(await program.notes())).toEqual(['die', 'look']);
    expect(ofSession(await flaky.notes())).toEqual(['die-once', 'die-once']);
    await expectStoredAsShown(client, url, sessionId);
  },
);
