import express, { type ErrorRequestHandler } from 'express';
import { sendLines } from '../../api/extension.js';
import { listen } from '../../api/listen.js';
import { until } from '../support/until.js';

/** Serves lines, and notes how their source and the route end. */
async function serve(source: () => AsyncIterable<string>) {
  const ends: string[] = [];
  const app = express();
  app.get('/', async (_request, response) => {
    const lines = async function* () {
      try {
        yield* source();
      } finally {
        ends.push('source');
      }
    };
    await sendLines(response, lines());
    ends.push('reply');
  });
  app.use(((error: Error, _request, response, _next) => {
    ends.push(error.message);
    response.destroy();
  }) satisfies ErrorRequestHandler);
  const { port, close } = await listen(app, 0, '127.0.0.1');
  atEndOfFile(close);
  const get = (options?: RequestInit) => fetch(`http://127.0.0.1:${String(port)}/`, options);
  return { ends, get };
}

async function* twoLines() {
  yield '1\n';
  yield '2\n';
}

it('lines are sent until their source ends', async () => {
  const { ends, get } = await serve(twoLines);
  const reply = await get();
  expect(reply.headers.get('content-type')).toBe('application/x-ndjson');
  expect(await reply.text()).toBe('1\n2\n');
  expect(ends).toEqual(['source', 'reply']);
});

it.each([0, 1])(
  'lines whose source fails behind %i are cut off, and the route fails',
  async (n) => {
    const { ends, get } = await serve(async function* () {
      if (n > 0) yield '1\n';
      throw new Error('Redis is away');
    });
    const reply = await get();
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow('terminated');
    expect(ends).toEqual(['source', 'Redis is away']);
  },
);

it('a reader that leaves ends the source, and is no fault', async () => {
  const { ends, get } = await serve(async function* () {
    for (;;) yield `${'x'.repeat(100_000)}\n`;
  });
  const reader = new AbortController();
  await get({ signal: reader.signal });
  reader.abort();
  await until('both have ended', () => ends.length === 2);
  expect(ends.toSorted()).toEqual(['reply', 'source']);
});

it('a HEAD reads no lines', async () => {
  const { ends, get } = await serve(twoLines);
  expect((await get({ method: 'HEAD' })).status).toBe(200);
  expect(ends).toEqual(['reply']);
});
