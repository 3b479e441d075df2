import type { Response } from 'express';
import {
  createSSEHeaders,
  KEEP_ALIVE_MS,
  SSE_KEEP_ALIVE,
  toLastFrames,
  UNCOMPRESSED,
} from '../ai-sdk/index.js';
import type { StreamMeter } from './metrics/api-metrics.js';

export interface PipeOptions {
  headers?: Record<string, string>;
  /** Interval of the comments that keep it open, ms. Default: 5,000. */
  keepAliveMs?: number | undefined;
  /** True for a stream whose reader reconnects after every end: it ends where it breaks off. */
  isEndless?: boolean;
  /** A reader that accepts nothing for this long is cut, ms. Default: 10,000. */
  stallMs?: number;
  /** Counts what is written. */
  meter?: StreamMeter | undefined;
}

const STALL_MS = 10_000;

/** SSE text that follows a log until the signal aborts. */
export type Frames = (signal: AbortSignal) => AsyncIterable<string | Uint8Array>;

/**
 * Writes a reply to an Express response: the web `Response` of `handleChatStream`, or its three fields, or
 * SSE text, one write for what arrived together. The response ends only if the reply is complete, or has told its
 * reader that it breaks off; otherwise the socket is destroyed, so that no client takes half a reply for
 * a whole one. Following stops when the reader disconnects.
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
 * `connection`, which the AI SDK names among the headers of its streams, is left to the HTTP server: it
 * would keep the socket of a client open that asked for `connection: close`.
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
  const { meter } = options;
  response.once('close', leave);
  meter?.opened();
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain) response.write(SSE_KEEP_ALIVE);
  }, options.keepAliveMs ?? KEEP_ALIVE_MS);
  try {
    for await (const text of frames(reader.signal)) {
      if (reader.signal.aborted) return;
      meter?.wrote(text.length);
      if (response.write(text)) continue;
      const drained = await waitForDrain(response, reader.signal, options.stallMs ?? STALL_MS);
      if (!drained) return;
    }
    response.end();
  } catch (error) {
    const last = toLastFrames(error) ?? (options.isEndless === true ? '' : undefined);
    if (last !== undefined) response.end(last);
    throw error;
  } finally {
    clearInterval(keepAlive);
    meter?.closed();
    response.off('close', leave);
    leave();
    if (!response.writableEnded) response.destroy();
  }
}

/** True when the reader accepts more; false if it stalls or disconnects. */
function waitForDrain(response: Response, signal: AbortSignal, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (drained: boolean) => (): void => {
      clearTimeout(timer);
      response.off('drain', drain);
      signal.removeEventListener('abort', stop);
      resolve(drained);
    };
    const drain = done(true);
    const stop = done(false);
    const timer = setTimeout(stop, stallMs);
    response.once('drain', drain);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}
