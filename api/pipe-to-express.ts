import type { Response } from 'express';
import { createSSEHeaders, SSE_KEEP_ALIVE } from '../ai-sdk/index.js';

export interface PipeOptions {
  headers: Record<string, string>;
  /** Silence after which a comment is sent, ms. */
  keepAliveMs?: number;
  /** A reader that takes nothing for this long is cut, ms. */
  stallMs?: number;
}

const KEEP_ALIVE_MS = 15_000;
const STALL_MS = 10_000;

/**
 * Writes SSE text to a response, one write for what arrived together. Ends the response only when
 * the frames are complete; if they break off, or the reader is too slow, the socket is destroyed, so
 * that no client takes half a reply for a whole one. When the reader leaves, following stops.
 *
 * @throws what made the frames break off
 */
export async function pipeToExpress(
  frames: (signal: AbortSignal) => AsyncIterable<string>,
  response: Response,
  options: PipeOptions,
): Promise<void> {
  if (response.destroyed) return;
  const reader = new AbortController();
  const leave = (): void => {
    reader.abort();
  };
  response.once('close', leave);
  response.writeHead(200, createSSEHeaders(options.headers));
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain) response.write(SSE_KEEP_ALIVE);
  }, options.keepAliveMs ?? KEEP_ALIVE_MS);
  try {
    for await (const text of frames(reader.signal)) {
      if (reader.signal.aborted) return;
      if (response.write(text)) continue;
      const drained = await waitForDrain(response, reader.signal, options.stallMs ?? STALL_MS);
      if (!drained) return;
    }
    response.end();
  } finally {
    clearInterval(keepAlive);
    response.off('close', leave);
    leave();
    if (!response.writableEnded) response.destroy();
  }
}

/** True when the reader takes more; false if it stalls or leaves. */
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
