import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createVite } from 'vite';
import { npm } from '../../scripts/clients/npm.mjs';
import { installWithApt } from '../../scripts/engines/apt.mjs';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { CLIENTS, loadChat, openChat, toScript } from '../support/chat-client.js';
import { HOOKS, openHookPage } from '../support/hook-page.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

// `npm run proxies` reads replies through common proxies while their worker is killed.

const FIRST = 'The first attempt says this and dies in the middle of it. '.repeat(20);
const SECOND = 'What the second attempt says is something else.';
const SCRIPT = toScript({
  say: SECOND,
  deltas: 10,
  everyMs: 50,
  attempts: [{ say: FIRST, deltas: 300, everyMs: 100 }, {}],
});
/** Limit from the worker's death to the next word on the page, ms. */
const NEXT_WORD_MS = 10_000;

interface Proxy {
  url: string;
  close: () => unknown;
}

let product: Product;
let folder: string;
const proxies: Proxy[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proxies-'));
  product = await startProduct();
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const packages = ['http-proxy@1', 'next@16', 'react@19', 'react-dom@19'];
  await npm(['install', '--no-audit', '--no-fund', ...packages], { cwd: folder });
}, 400_000);

afterAll(async () => {
  for (const { close } of proxies) await close();
  await product.stop();
  await rm(folder, { recursive: true, force: true });
});

const STARTS: Record<string, () => Promise<Proxy>> = {
  'http-proxy': async () => {
    const { createProxyServer } = createRequire(join(folder, 'x.js'))('http-proxy') as {
      createProxyServer: (options: object) => {
        web: (request: IncomingMessage, response: ServerResponse) => void;
      };
    };
    const proxy = createProxyServer({ target: product.url });
    const server = createServer((request, response) => {
      proxy.web(request, response);
    });
    const port = await anyFreePort();
    server.listen(port, '127.0.0.1');
    return { url: urlOf(port), close: () => server.close() };
  },
  Vite: async () => startVite({ configFile: false, proxy: { '/api': product.url } }),
  "Vite as the app's config has it": async () => {
    process.env['HELIX_URL'] = product.url;
    return startVite({ configFile: 'templates/app/vite.config.ts' });
  },
  "Next's rewrites": async () => {
    const app = join(folder, 'next');
    await mkdir(join(app, 'pages'), { recursive: true });
    await writeFile(join(app, 'pages/index.js'), 'export default () => null;\n');
    const rule = { source: '/api/:path*', destination: `${product.url}/api/:path*` };
    await writeFile(
      join(app, 'next.config.mjs'),
      `export default { rewrites: async () => [${JSON.stringify(rule)}] };\n`,
    );
    const port = await anyFreePort();
    const next = join(folder, 'node_modules/next/dist/bin/next');
    return startProgram(process.execPath, [next, 'dev', app, '-p', String(port)], port);
  },
  nginx: async () => {
    if (!existsSync('/usr/sbin/nginx')) await installWithApt(['nginx-light']);
    const port = await anyFreePort();
    const file = join(folder, 'nginx.conf');
    await writeFile(
      file,
      `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
http { access_log off; server { listen 127.0.0.1:${String(port)};
  location / { proxy_pass ${product.url}; proxy_http_version 1.1; } } }\n`,
    );
    return startProgram('/usr/sbin/nginx', ['-c', file, '-p', folder], port);
  },
};

function urlOf(port: number): string {
  return `http://127.0.0.1:${String(port)}`;
}

async function startVite({
  configFile,
  proxy,
}: {
  configFile: string | false;
  proxy?: Record<string, string>;
}): Promise<Proxy> {
  const vite = await createVite({
    configFile,
    root: folder,
    logLevel: 'silent',
    appType: 'custom',
    server: {
      port: await anyFreePort(),
      host: '127.0.0.1',
      hmr: false,
      ws: false,
      watch: null,
      ...(proxy && { proxy }),
    },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  await vite.listen();
  return { url: urlOf(vite.config.server.port), close: () => vite.close() };
}

async function startProgram(file: string, args: string[], port: number): Promise<Proxy> {
  const child: ChildProcess = spawn(file, args, { detached: true, stdio: 'ignore' });
  const answers = async (): Promise<boolean> => {
    const reply = await fetch(`${urlOf(port)}/api/openapi.json`).catch(() => undefined);
    await reply?.arrayBuffer();
    return reply?.ok === true;
  };
  await until(`${file} passes requests on`, answers, 120_000);
  return { url: urlOf(port), close: () => process.kill(-(child.pid ?? 0), 'SIGTERM') };
}

interface Page {
  name: string;
  reply: () => string;
  /** Reconnects after the worker's death and waits for the new words. */
  recover: () => Promise<() => string>;
}

async function openPages(name: string, url: string): Promise<Page[]> {
  const hooked = HOOKS.map(async ([hook, useHelixChat]): Promise<Page> => {
    const page = await openHookPage(useHelixChat, { url, sessionId: newSessionId() });
    void page.chat.sendMessage(SCRIPT);
    return {
      name: `${name}, our hook on ${hook}`,
      reply: page.reply,
      recover: async () => page.reply,
    };
  });
  const stock = CLIENTS.map(async ([major, library]): Promise<Page> => {
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const sent = client.chat.sendMessage(SCRIPT);
    return {
      name: `${name}, ${major} as it is`,
      reply: client.reply,
      recover: async () => {
        await sent;
        expect([client.chat.status, client.posts()]).toEqual(['error', 1]);
        const { client: again } = await loadChat(library, { url, sessionId });
        return again.reply;
      },
    };
  });
  return Promise.all([...hooked, ...stock]);
}

it('behind every proxy the next word comes within ten seconds, and none is lost or doubled', async () => {
  for (const start of Object.values(STARTS)) proxies.push(await start());
  const opened = Object.keys(STARTS).map((name, at) => openPages(name, proxies[at]?.url ?? ''));
  const pages = (await Promise.all(opened)).flat();
  await until('all see the first attempt', () =>
    pages.every(({ reply }) => reply().includes('The first attempt')),
  );
  const killedAt = Date.now();
  await product.kill9Worker();
  await product.startWorker();
  const waits = await Promise.all(
    pages.map(async ({ name, recover }) => {
      const reply = await recover();
      await until(`${name} goes on`, () => reply().startsWith('What'), 90_000);
      const waited = Date.now() - killedAt;
      await until(`${name} has all`, () => reply() === SECOND, 30_000);
      return [name, waited] as const;
    }),
  );
  process.stdout.write(`${waits.map(([name, ms]) => `${String(ms)} ms  ${name}`).join('\n')}\n`);
  for (const [name, waited] of waits) {
    expect([name, waited < NEXT_WORD_MS]).toEqual([name, true]);
  }
}, 600_000);
