import express from 'express';
import { listen } from '../../api/listen.js';
import { until } from '../support/until.js';

const HOST = '127.0.0.1';

it('a port that is in use is named, and taken once it is free if there is time', async () => {
  const first = await listen(express(), 0, HOST);
  await expect(listen(express(), first.port, HOST)).rejects.toMatchObject({
    name: 'StartupError',
    message: `Cannot listen on ${HOST}:${String(first.port)}: the port is in use.`,
  });
  const waiting = listen(express(), first.port, HOST, 60_000);
  await first.close();
  const second = await waiting;
  atEndOfFile(second.close);
  expect(second.port).toBe(first.port);
});

it('a server that closes replies to a request that has arrived, and cuts streams', async () => {
  const app = express();
  let reply: (() => void) | undefined;
  app.get('/slow', (_request, response) => {
    reply = () => response.send('late');
  });
  let rest: (() => void) | undefined;
  app.get('/list', (_request, response) => {
    response.type('json').write('[1,');
    rest = () => response.end('2]');
  });
  app.get('/stream', (_request, response) => {
    response.type('text/event-stream').write('begun');
  });
  const { port, close } = await listen(app, 0, HOST);
  const url = `http://${HOST}:${String(port)}`;
  const stream = await fetch(`${url}/stream`);
  const list = await fetch(`${url}/list`);
  const slow = fetch(`${url}/slow`);
  await until('it has arrived', () => reply !== undefined);
  // Its last limit, which cuts everything, is never over.
  jest.useFakeTimers();
  const closed = close();
  await expect(stream.text()).rejects.toThrow();
  rest?.();
  expect(await list.json()).toEqual([1, 2]);
  reply?.();
  expect(await (await slow).text()).toBe('late');
  // Sooner than the end of an idle connection.
  await closed;
}, 20_000);

it('a server that closes cuts what is not replied to in time', async () => {
  const app = express();
  const arrived = new Promise<void>((resolve) => void app.get('/never', () => resolve()));
  const { port, close } = await listen(app, 0, HOST);
  const never = expect(fetch(`http://${HOST}:${String(port)}/never`)).rejects.toThrow();
  await arrived;
  await close();
  await never;
});
