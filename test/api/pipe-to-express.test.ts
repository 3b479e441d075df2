import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import { StreamBrokenError } from '../../ai-sdk/index.js';
import { pipeToExpress, type PipeOptions } from '../../api/index.js';
import { listen } from '../support/listen.js';

interface Piping {
  port: number;
  /** Settles with the pipe: undefined, or what it threw. */
  settled: Promise<unknown>;
}

async function startPipe(
  frames: (signal: AbortSignal) => AsyncIterable<string>,
  options: Partial<PipeOptions> = {},
): Promise<Piping> {
  let settle: (value: unknown) => void = () => undefined;
  const settled = new Promise((resolve) => {
    settle = resolve;
  });
  const app = express();
  app.get('/', (_request, response) => {
    pipeToExpress(frames, response, { headers: { 'x-run-id': 'r1' }, ...options }).then(() => {
      settle(undefined);
    }, settle);
  });
  return { port: (await listen(createServer(app))).port, settled };
}

const read = (port: number, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${String(port)}/`, init);

/** Resolves when the signal fires. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

describe('pipeToExpress', () => {
  it('headers are sent at once, then the frames, then the end', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let following: AbortSignal | undefined;
    const { port, settled } = await startPipe(async function* (signal) {
      following = signal;
      await gate;
      yield 'data: 1\n\n';
      yield 'data: 2\n\n';
    });
    const response = await read(port);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('x-run-id')).toBe('r1');
    release();
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect(await settled).toBeUndefined();
    // The frames' signal has aborted, so the work behind them ends too.
    expect(following?.aborted).toBe(true);
  });

  const pieces = ['data: ü🙂\n\n', '', 'data: ü🙂\n\n', 'data: 2\n\n'];

  it('pieces arrive whole, whatever characters they have, and one without any ends nothing', async () => {
    const { port } = await startPipe(async function* () {
      yield* pieces;
      await Promise.resolve();
    });
    expect(await (await read(port)).text()).toBe(pieces.join(''));
  });

  it('what wraps a response gets each piece, and so does one that is not chunked', async () => {
    const seen: string[] = [];
    const app = express();
    app.get('/', (request, response) => {
      const write = response.write.bind(response);
      const isWrapped = request.headers['x-wrap'] !== undefined;
      // As some do, it passes on no callback.
      const wrapped = (piece: string): boolean => {
        seen.push(piece);
        return write(piece);
      };
      if (isWrapped) Object.assign(response, { write: wrapped });
      else response.useChunkedEncodingByDefault = false;
      const frames = async function* () {
        yield* pieces;
        await Promise.resolve();
      };
      void pipeToExpress(frames, response, { stallMs: 200 });
    });
    const { port } = await listen(createServer(app));
    const wrapped = await read(port, { headers: { 'x-wrap': '1' } });
    expect(await wrapped.text()).toBe(pieces.join(''));
    expect(seen).toEqual(pieces.filter((piece) => piece !== ''));
    expect(await (await read(port)).text()).toBe(pieces.join(''));
  });

  it('nothing is written behind the end of a response that something else has ended', async () => {
    const app = express();
    app.get('/', (_request, response) => {
      const frames = async function* () {
        yield 'data: 1\n\n';
        // The socket has taken it then.
        await new Promise((resolve) => setImmediate(resolve));
        response.end();
        yield 'data: late\n\n';
      };
      void pipeToExpress(frames, response);
    });
    const socket = connect(await listen(createServer(app)));
    socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    while (!text.includes('\r\n0\r\n\r\n')) await once(socket, 'data');
    socket.end();
    await once(socket, 'close');
    expect(text).toContain('data: 1');
    expect(text).not.toContain('late');
  });

  it('a client that asks for `connection: close` sees its socket closed after the last frame', async () => {
    const { port } = await startPipe(async function* () {
      yield await Promise.resolve('data: 1\n\n');
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    socket.destroy();
  });

  it('the socket is cut when the frames break off, so half a reply does not look complete', async () => {
    const meter = { open: 0, writes: 0, characters: 0 };
    const frames = async function* () {
      yield await Promise.resolve('data: 1\n\n');
      throw new Error('the log broke off');
    };
    const { port, settled } = await startPipe(frames, { meter });
    const response = await read(port);
    await expect(response.text()).rejects.toThrow();
    expect(await settled).toEqual(new Error('the log broke off'));
    expect(meter).toEqual({ open: 0, writes: 1, characters: 9 });
  });

  it('a reply that breaks off says so and ends, since many proxies do not pass a cut on', async () => {
    const parts = [{ type: 'error', errorText: 'gone' }] as const;
    const { port, settled } = await startPipe(async function* () {
      yield await Promise.resolve('data: 1\n\n');
      throw new StreamBrokenError('withdrawn', parts);
    });
    const response = await read(port);
    expect(await response.text()).toBe('data: 1\n\ndata: {"type":"error","errorText":"gone"}\n\n');
    expect(await settled).toEqual(new StreamBrokenError('withdrawn', parts));
  });

  it('a stream whose reader reconnects after every end ends where it breaks off', async () => {
    const { port } = await startPipe(
      async function* () {
        yield await Promise.resolve('data: 1\n\n');
        throw new Error('the log broke off');
      },
      { isEndless: true },
    );
    const response = await read(port);
    expect(await response.text()).toBe('data: 1\n\n');
  });

  it('nothing on the way may compress a stream, which would hold its events back', async () => {
    const { port } = await startPipe(async function* () {
      yield await Promise.resolve('data: 1\n\n');
    });
    const response = await read(port);
    expect(response.headers.get('cache-control')).toContain('no-transform');
    await response.text();
  });

  it('following stops as soon as the reader disconnects', async () => {
    const begun = jest.spyOn(globalThis, 'setInterval');
    const ended = jest.spyOn(globalThis, 'clearInterval');
    const frames = async function* (signal: AbortSignal) {
      yield 'data: 1\n\n';
      await aborted(signal);
    };
    const { port, settled } = await startPipe(frames, { keepAliveMs: 12_345 });
    const reader = new AbortController();
    const response = await read(port, { signal: reader.signal });
    await response.body?.getReader().read();
    reader.abort();
    expect(await settled).toBeUndefined();
    const at = begun.mock.calls.findIndex(([, ms]) => ms === 12_345);
    expect(ended.mock.calls).toContainEqual([begun.mock.results[at]?.value]);
  });

  it.each([
    ['a HEAD', 'HEAD', false],
    ['a client that has left', 'GET', true],
    ['a client that leaves', 'GET', false],
  ])('%s leaves no body that nobody reads', async (_, method, hasLeft) => {
    const reader = new AbortController();
    const app = express();
    const next = jest.fn();
    const frames = { [Symbol.asyncIterator]: () => ({ next }) };
    const isCancelled = new Promise<void>((resolve) => {
      app.get('/', async (_request, response) => {
        if (hasLeft) {
          reader.abort();
          await once(response, 'close');
          await pipeToExpress(() => frames as never, response);
        }
        const cancel = (): Promise<never> => {
          resolve();
          return Promise.reject(new Error('The body is broken.'));
        };
        const piping = pipeToExpress(new Response(new ReadableStream({ cancel })), response);
        if (method === 'GET') setImmediate(() => reader.abort());
        await piping;
      });
    });
    const { port } = await listen(createServer(app));
    await read(port, { method, signal: reader.signal }).catch(() => undefined);
    await isCancelled;
    await new Promise(setImmediate);
    expect(next).not.toHaveBeenCalled();
  });

  it('comments keep a silent stream open', async () => {
    const { port } = await startPipe(
      async function* (signal) {
        yield 'data: 1\n\n';
        await aborted(signal);
      },
      { keepAliveMs: 10 },
    );
    const response = await read(port);
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += new TextDecoder().decode(bytes);
      if (text.includes(': keep-alive\n\n')) break;
    }
    expect(text.startsWith('data: 1\n\n')).toBe(true);
  });

  it('a reader has time for each megabyte of a long piece', async () => {
    const app = express();
    app.get('/', (_request, response) => {
      const write = response.write.bind(response);
      const slow = (piece: string): boolean => {
        setTimeout(() => {
          write(piece);
          response.emit('drain');
        }, 300);
        return false;
      };
      Object.assign(response, { write: slow });
      const frames = async function* () {
        yield await Promise.resolve('x'.repeat(1.5 * 1024 * 1024));
      };
      void pipeToExpress(frames, response, { stallMs: 200 });
    });
    const { port } = await listen(createServer(app));
    expect(await (await read(port)).text()).toHaveLength(1.5 * 1024 * 1024);
  });

  it('a reader that accepts nothing is cut, and little is buffered for it', async () => {
    let written = 0;
    const { port, settled } = await startPipe(
      async function* () {
        for (;;) {
          written += 64 * 1024;
          yield await Promise.resolve(`data: ${'x'.repeat(64 * 1024)}\n\n`);
        }
      },
      { stallMs: 200 },
    );
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    expect(await settled).toBeUndefined();
    // What the kernel takes for the socket, and one frame more.
    expect(written).toBeLessThan(16 * 1024 * 1024);
    socket.destroy();
  });
});
