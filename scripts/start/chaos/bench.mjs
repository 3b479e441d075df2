// The chaos bench: two devices on one conversation, and a page that kills what they depend on. It is a
// server of the supervisor, which owns the processes; no API has such a route.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { claimPort } from '../../system/ports.mjs';
import { createDevice } from './device.mjs';

const PORTS = [8300, 8301];
const DROPPED_MS = 2_000;
const BODY_BYTES = 1_000;
const file = (name) => readFileSync(new URL(`./${name}`, import.meta.url));
const PAGES = {
  '/chaos/': ['text/html; charset=utf-8', file('bench.html')],
  '/chaos/bench.js': ['text/javascript', file('bench-page.js')],
  '/chaos/count-words.js': ['text/javascript', file('count-words.js')],
};

/**
 * Opens the bench on loopback; it ends with the fleet. Returns its address.
 *
 * @param options.url     address of the API
 * @param options.kill    kills a process by its role, or ends an engine by its name; false for one that was not started here
 */
export async function openChaosBench({ url, kill, fleet }) {
  const acts = {
    'kill-worker': () => kill('worker'),
    'kill-api': () => kill('api'),
    'restart-redis': () => kill('Redis'),
    'restart-temporal': () => kill('Temporal'),
    'drop-network': (response) => {
      // This reply is the last that arrives.
      response.once('finish', () => first.cut(DROPPED_MS));
      return true;
    },
  };
  const addresses = [];
  const bench = () => addresses[0];
  const serve = (request, response) => {
    const [type, content] = PAGES[request.url] ?? [];
    if (content !== undefined) {
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(content);
    } else if (request.url === '/chaos/devices') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ deviceB: addresses[1] }));
    } else if (request.url === '/chaos/act' && request.method === 'POST') {
      void perform(acts, request, response);
    } else return false;
    return true;
  };
  const first = createDevice({ target: url, bench, serve });
  const second = createDevice({ target: url, bench });
  for (const [at, { server }] of [first, second].entries()) {
    const port = await claimPort(PORTS[at]);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    addresses.push(`http://127.0.0.1:${port}`);
    const close = () => {
      server.close();
      server.closeAllConnections();
    };
    fleet.add({ stop: close, kill: close });
  }
  return `${addresses[0]}/chaos/`;
}

async function perform(acts, request, response) {
  let text = '';
  for await (const piece of request) {
    text += piece;
    if (text.length > BODY_BYTES) break;
  }
  const name = readAct(text);
  const isOurs =
    request.headers['content-type'] === 'application/json' && Object.hasOwn(acts, name);
  if (!isOurs) response.writeHead(400).end('There is no such act.\n');
  else if (acts[name](response)) response.writeHead(204).end();
  else response.writeHead(409).end('This one was not started here.\n');
}

function readAct(text) {
  try {
    return String(JSON.parse(text)?.act);
  } catch {
    return '';
  }
}
