import { createServer, request } from 'node:http';
import { placeUi } from '../../scripts/start/engines.mjs';
import { createUiProxy } from '../../scripts/temporal-ui/proxy.mjs';
import { listen } from '../support/listen.js';
import { connectRaw } from '../support/raw-http.js';

/** Starts the proxy before a stand-in for the UI that records and echoes requests. */
async function startProxy({ names } = {}) {
  const reached = [];
  const upstream = await listen(
    createServer(async (asked, response) => {
      reached.push(asked);
      response.setHeader('set-cookie', ['_csrf=1', 'other=2']);
      for await (const bytes of asked) response.write(bytes);
      response.end();
    }),
  );
  const { port } = await listen(createUiProxy({ upstream, names }));
  return { port, upstream, reached };
}

function ask(port, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path: '/a?b=c', headers });
    asked.once('error', reject).once('response', async (response) => {
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      resolve({ status: response.statusCode, headers: response.headers, text });
    });
    asked.end(body);
  });
}

const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

describe('the proxy of the Temporal UI lets in', () => {
  test.each([
    ['localhost', { host: 'localhost:8233' }],
    ['an address, which no name can be made of', { host: '192.168.1.5' }],
    ['an IPv6 address', { host: '[::1]:8233' }],
    ['a name that it was given', { host: 'ui.example.com' }],
    [
      'its own page',
      { host: 'localhost:1', origin: 'http://localhost:1', 'sec-fetch-site': 'same-origin' },
    ],
    ['its own page behind TLS', { host: 'ui.example.com', origin: 'https://ui.example.com' }],
    ['what a person typed', { host: 'localhost', 'sec-fetch-site': 'none' }],
    [
      'a link of another page',
      { host: 'localhost', 'sec-fetch-site': 'cross-site', ...navigation },
    ],
  ])('%s', async (_name, headers) => {
    const { port } = await startProxy({ names: ['ui.example.com'] });
    await expect(ask(port, { headers })).resolves.toMatchObject({ status: 200 });
  });
});

describe('the proxy of the Temporal UI refuses', () => {
  test.each([
    ['a name that leads here', { headers: { host: 'rebound.evil.example' } }],
    ['a name that begins like an own one', { headers: { host: 'localhost.evil.example' } }],
    ['a name that ends like an own one', { headers: { host: 'evil.localhost' } }],
    ['an invalid host', { headers: { host: 'a b' } }],
    ['another origin', { headers: { host: 'localhost:1', origin: 'http://localhost:2' } }],
    ['an origin without a name', { headers: { host: 'localhost:1', origin: 'null' } }],
    ['another site', { headers: { host: 'localhost', 'sec-fetch-site': 'cross-site' } }],
    ['a neighbouring port', { headers: { host: 'localhost', 'sec-fetch-site': 'same-site' } }],
    [
      'a frame in another page',
      {
        headers: {
          host: 'localhost',
          'sec-fetch-site': 'cross-site',
          ...navigation,
          'sec-fetch-dest': 'iframe',
        },
      },
    ],
    [
      'a form of another page',
      {
        method: 'POST',
        headers: { host: 'localhost', 'sec-fetch-site': 'cross-site', ...navigation },
      },
    ],
  ])('%s', async (_name, asked) => {
    const { port, reached } = await startProxy();
    await expect(ask(port, asked)).resolves.toMatchObject({ status: 403 });
    expect(reached).toEqual([]);
  });

  test('two hosts', async () => {
    const { port, reached } = await startProxy();
    const connection = await connectRaw(`http://127.0.0.1:${port}`);
    connection.send('GET / HTTP/1.1\r\nHost: localhost\r\nHost: rebound.evil.example\r\n\r\n');
    await expect(connection.reply).resolves.toMatchObject({ status: 403 });
    connection.socket.destroy();
    expect(reached).toEqual([]);
  });
});

test('the proxy of the Temporal UI forwards method, path, body and cookies, with its own host', async () => {
  const { port, upstream, reached } = await startProxy();
  const headers = { host: `localhost:${port}`, cookie: '_csrf=1', connection: 'close' };
  const reply = await ask(port, { method: 'PUT', headers, body: 'what it sent' });
  expect(reply).toMatchObject({ status: 200, text: 'what it sent' });
  expect(reply.headers['set-cookie']).toEqual(['_csrf=1', 'other=2']);
  expect(reached[0]).toMatchObject({ method: 'PUT', url: '/a?b=c' });
  expect(reached[0].headers).toMatchObject({
    cookie: '_csrf=1',
    host: `127.0.0.1:${upstream.port}`,
  });
});

test('the proxy of the Temporal UI says that the UI is away', async () => {
  const { port } = await listen(createUiProxy({ upstream: { host: '127.0.0.1', port: 1 } }));
  await expect(ask(port, { headers: { host: 'localhost' } })).resolves.toMatchObject({
    status: 502,
  });
});

describe('the Temporal UI itself stands', () => {
  const nowhere = { ownAddress: async () => undefined };

  test('the Temporal UI has an address of its own, another one at each start', async () => {
    const places = await Promise.all([placeUi(undefined), placeUi(true)]);
    for (const { host } of places) expect(host).toMatch(/^127\.(\d+\.){2}\d+$/);
    expect(places[0].host).not.toBe(places[1].host);
    expect(places.map(({ host }) => host)).not.toContain('127.0.0.1');
  });

  test('nowhere when it is not wanted, or where there is only 127.0.0.1', async () => {
    await expect(placeUi(false)).resolves.toBeUndefined();
    await expect(placeUi(undefined, nowhere)).resolves.toBeUndefined();
  });

  test('the Temporal UI is on 127.0.0.1 on request', async () => {
    await expect(placeUi(true, nowhere)).resolves.toMatchObject({ host: '127.0.0.1' });
  });
});
