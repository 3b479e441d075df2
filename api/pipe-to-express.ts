import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import {
  createSSEHeaders,
  KEEP_ALIVE_MS,
  SSE_KEEP_ALIVE,
  toLastFrames,
  UNCOMPRESSED,
} from '../ai-sdk/index.js';
import type { StreamMeter } from './metrics.js';

export interface PipeOptions {
  headers?: Record<string, string>;
  /** Interval of the comments that keep the stream open, ms. Default: 5,000. */
  keepAliveMs?: number | undefined;
  /** True if the reader reconnects after every end, so that a break may end the response. */
  isEndless?: boolean;
  /** A reader that accepts nothing for this long is cut, ms. Default: 10,000. */
  stallMs?: number;
  meter?: StreamMeter | undefined;
}

/** A reader that takes less than a megabyte in this time is cut, so that it holds no memory. */
const STALL_MS = 10_000;
const PACE = 1024 * 1024;

/** SSE text that follows a log until the signal aborts. */
export type Frames = (signal: AbortSignal) => AsyncIterable<string | Uint8Array>;

/**
 * Writes a reply to an Express response: the web `Response` of `handleChatStream`, its three
 * fields, or SSE text. The response ends only if the reply is complete, or has told its reader that
 * it breaks off; otherwise the socket is destroyed, so that no client takes half a reply for a
 * whole one. Following stops when the reader disconnects.
 *
 * @throws the error that broke the reply off
 * @example
 * import express from 'express';
 * import { handleChatStream, type HandleChatStreamDeps } from 'helix-temporal/ai-sdk';
 * import { pipeToExpress } from 'helix-temporal/api';
 *
 * declare const deps: HandleChatStreamDeps;
 *
 * express().get('/chat/:id', async (request, response) => {
 *   const { id: sessionId } = request.params;
 *   const reply = await handleChatStream(deps, { sessionId, messages: [], userId: 'ann' });
 *   await pipeToExpress(reply, response);
 * });
 */
export async function pipeToExpress(
  reply: (Pick<globalThis.Response, 'status' | 'body'> & { headers: HeadersInit }) | Frames,
  response: Response,
  options: PipeOptions = {},
): Promise<void> {
  if (typeof reply !== 'function' && (response.destroyed || response.req.method === 'HEAD')) {
    // Without a reader, the body would go on following its log.
    await reply.body?.cancel().catch(() => undefined);
  }
  if (response.destroyed) return;
  if (typeof reply === 'function') {
    const headers = createSSEHeaders({ ...UNCOMPRESSED, ...options.headers });
    response.writeHead(200, toExpressHeaders(headers));
    await pipeFrames(reply, response, options);
    return;
  }
  const headers = { ...Object.fromEntries(new Headers(reply.headers)), ...options.headers };
  response.writeHead(reply.status, toExpressHeaders(headers));
  const { body } = reply;
  if (body === null) response.end();
  else await pipeFrames((signal) => readBody(body, signal), response, options);
}

/**
 * Drops `connection`, which the AI SDK adds to its streams: it would keep open the socket of a
 * client that asked for `connection: close`.
 */
function toExpressHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'connection'),
  );
}

async function* readBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const leave = (): void => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', leave, { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function pipeFrames(frames: Frames, response: Response, options: PipeOptions): Promise<void> {
  if (response.req.method === 'HEAD') {
    // A HEAD has no body to wait for.
    response.end();
    return;
  }
  const reader = new AbortController();
  const leave = (): void => {
    reader.abort();
  };
  const { meter, stallMs = STALL_MS } = options;
  response.once('close', leave);
  if (meter !== undefined) meter.open += 1;
  response.flushHeaders();
  const write = writeTo(response);
  // One piece is in flight at a time; the source joins frames that arrive meanwhile.
  const flight: Flight = { isOut: false, onTaken: undefined };
  const taken = (): void => {
    flight.isOut = false;
    flight.onTaken?.();
  };
  const keepAlive = setInterval(() => {
    if (!flight.isOut) write(SSE_KEEP_ALIVE);
  }, options.keepAliveMs ?? KEEP_ALIVE_MS);
  try {
    for await (const text of frames(reader.signal)) {
      if (flight.isOut && !(await isTaken(flight, reader.signal, stallMs))) return;
      if (reader.signal.aborted) return;
      // A chunk without bytes would end the body.
      if (text.length === 0) continue;
      if (meter !== undefined) {
        meter.writes += 1;
        meter.characters += text.length;
      }
      flight.isOut = true;
      if (write(text, taken)) continue;
      const paceMs = stallMs * Math.ceil(text.length / PACE);
      if (!(await isTaken(flight, reader.signal, paceMs))) return;
    }
    response.end();
  } catch (error) {
    const last = toLastFrames(error) ?? (options.isEndless === true ? '' : undefined);
    if (last !== undefined) response.end(last);
    throw error;
  } finally {
    clearInterval(keepAlive);
    if (meter !== undefined) meter.open -= 1;
    response.off('close', leave);
    leave();
    if (!response.writableEnded) response.destroy();
  }
}

type Write = (piece: string | Uint8Array, taken?: () => void) => boolean;

/**
 * Returns the writer of a response's body. It frames a piece once for all readers and passes it to
 * the socket in one write; Node takes four writes and twice the time. A wrapped or unchunked
 * response is written by its own method.
 */
function writeTo(response: Response): Write {
  const { socket } = response;
  const isPlain = response.chunkedEncoding && response.write === ServerResponse.prototype.write;
  if (isPlain && socket instanceof Socket) {
    // If something else has ended the response, its socket may already serve another one.
    return (piece, taken) => response.writableEnded || socket.write(toChunk(piece), taken);
  }
  // A wrapper may drop the callback of a write.
  return (piece, taken) => {
    const isTaken = response.write(piece);
    if (taken !== undefined && isTaken) taken();
    else if (taken !== undefined) response.once('drain', taken);
    return isTaken;
  };
}

/** The newest framed piece; the viewers of a turn get the same piece one after the other. */
let framed: { piece: string; chunk: Buffer } | undefined;

function toChunk(piece: string | Uint8Array): Buffer {
  if (framed?.piece === piece) return framed.chunk;
  const bytes = Buffer.from(piece);
  const size = `${bytes.length.toString(16)}\r\n`;
  const chunk = Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]);
  if (typeof piece === 'string') framed = { piece, chunk };
  return chunk;
}

/** A write that the socket has not taken yet. */
interface Flight {
  isOut: boolean;
  onTaken: (() => void) | undefined;
}

/** Returns true once the reader has taken the write; false if it stalls or disconnects. */
function isTaken(flight: Flight, signal: AbortSignal, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (wasTaken: boolean) => (): void => {
      clearTimeout(timer);
      flight.onTaken = undefined;
      signal.removeEventListener('abort', stop);
      resolve(wasTaken);
    };
    const stop = done(false);
    const timer = setTimeout(stop, stallMs);
    flight.onTaken = done(true);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    else if (!flight.isOut) flight.onTaken();
  });
}
