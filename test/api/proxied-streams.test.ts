import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type InlineConfig } from 'vite';
import { toPatience } from '../../ai-sdk/client/patience.js';
import { KEEP_ALIVE_MS } from '../../ai-sdk/index.js';
import { textOf } from '../support/chat-client.js';
import { HOOKS, openHookPage } from '../support/hook-page.js';
import { createStockChat, MAJORS, untilReady, type StockChat } from '../support/stock-chat.js';
import type { PlayedTurn } from '../support/played-turn.js';
import { until } from '../support/until.js';
import { say, startApi, type ApiServer } from './api-server.js';

// Replies behind a proxy of http-proxy, such as Vite's: it does not pass on that a connection broke.

/** The runs, by conversation; each has said the first words. */
const turns = new Map<string, PlayedTurn>();
let api: ApiServer;
let proxy: { url: string };

beforeAll(async () => {
  api = await start();
  proxy = await startVite({ configFile: false, server: { proxy: { '/api': api.url } } });
});

function start(): Promise<ApiServer> {
  return startApi({
    defaultAgent: 'lab',
    play: (turn, sessionId) => {
      turns.set(sessionId, turn);
      return turn.say('half');
    },
  });
}

async function startVite({ server, ...config }: InlineConfig): Promise<typeof proxy> {
  const root = await mkdtemp(join(tmpdir(), 'proxied-'));
  const vite = await createServer({
    ...config,
    root,
    cacheDir: root,
    logLevel: 'silent',
    appType: 'custom',
    server: { ...server, port: 0, host: '127.0.0.1', hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  await vite.listen();
  const address = vite.httpServer?.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  atEndOfFile(() => vite.close());
  return { url: `http://127.0.0.1:${String(port)}` };
}

/** The worker that wrote the first words is dead, and another one begins the step again. */
async function takeOver(sessionId: string): Promise<void> {
  await turns.get(sessionId)?.begin();
  await turns.get(sessionId)?.say('whole');
}

function replyOf({ messages }: StockChat): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? textOf(last) : '';
}

describe.each(MAJORS)('the stock chat of %s behind such a proxy', (_, library) => {
  it('learns that its reply broke off, asks for nothing by itself, and gets the rest', async () => {
    const id = crypto.randomUUID();
    const chat = createStockChat(library, {
      id,
      isAutomatic: true,
      fetch: (url, init) => fetch(url.replace('http://chat.test', proxy.url), init),
    });
    const sending = chat.sendMessage({ text: 'go' });
    await until('it shows the first words', () => replyOf(chat) === 'half');
    await takeOver(id);
    await sending;
    await untilReady(chat);
    expect([chat.status, chat.error?.message, chat.requests]).toEqual([
      'error',
      'The connection was lost while the reply came in.',
      ['POST'],
    ]);
    expect(chat.seen).toContain('data-stream-resync');

    const snapshot = (await (await fetch(`${proxy.url}/api/chat/${id}/snapshot`)).json()) as {
      messages: typeof chat.messages;
    };
    const again = createStockChat(library, {
      id,
      messages: snapshot.messages,
      fetch: (url, init) => fetch(url.replace('http://chat.test', proxy.url), init),
    });
    const resuming = again.resumeStream();
    await until('it shows the new words', () => replyOf(again) === 'whole');
    await turns.get(id)?.finish();
    await resuming;
    expect([again.status, replyOf(again)]).toEqual(['ready', 'whole']);
  });
});

describe.each(HOOKS)('useHelixChat on %s behind such a proxy', (_, useHelixChat) => {
  it('continues a reply that broke off at once', async () => {
    const sessionId = crypto.randomUUID();
    // Silence never ends a connection here, so only what the reply says of its end can.
    const patience = { longestSilenceMs: 2 ** 30 };
    const page = await openHookPage(useHelixChat, { url: proxy.url, sessionId, ...patience });
    atEndOfFile(page.close);
    void page.chat.sendMessage({ text: 'go' });
    await until('it shows the first words', () => page.reply() === 'half');
    await takeOver(sessionId);
    await until('it shows the new words', () => page.reply() === 'whole');
    await turns.get(sessionId)?.finish();
    await page.rests();
    expect(page.messages().map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(page.reply()).toBe('whole');
  });
});

it.each([
  [
    "OpenAI's protocol",
    '/v1/chat/completions',
    (id: string) => ({ model: 'lab', stream: true, metadata: { session_id: id } }),
  ],
  [
    'AG-UI',
    '/api/ag-ui/lab',
    (id: string) => ({
      threadId: id,
      runId: 'r1',
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
    }),
  ],
])('a reply in %s says by its own events that it breaks off, and ends', async (_, path, toBody) => {
  const id = crypto.randomUUID();
  const messages = [{ id: 'u1', role: 'user', content: 'go' }];
  const response = await api.post(path, { ...toBody(id), messages });
  const events = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('half')) text += (await events?.read())?.value ?? '';
  await takeOver(id);
  for (;;) {
    const { done = true, value = '' } = (await events?.read()) ?? {};
    if (done) break;
    text += value;
  }
  expect(text.match(/"code":"unavailable"/g)).toHaveLength(1);
  expect(text).not.toContain('resync');
  expect(text).not.toContain('whole');
});

it("the proxy of the app that `init` writes passes on that the API's side was cut", async () => {
  const mortal = await start();
  process.env['HELIX_URL'] = mortal.url;
  const vite = await startVite({ configFile: 'templates/app/vite.config.ts' });
  delete process.env['HELIX_URL'];
  const response = await fetch(`${vite.url}/api/chat/${crypto.randomUUID()}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [say('u1', 'go')] }),
    signal: AbortSignal.timeout(60_000),
  });
  // Node's client takes it for an end, browsers for an error.
  const body = response.text().catch((error: unknown) => (error as Error).name);
  await mortal.close();
  expect(await body).not.toBe('TimeoutError');
});

it('a page takes two keep-alives that do not come for a cut', () => {
  const { longestSilenceMs } = toPatience({});
  expect(longestSilenceMs).toBeGreaterThan(2 * KEEP_ALIVE_MS);
  expect(longestSilenceMs).toBeLessThan(3 * KEEP_ALIVE_MS);
});
