import type { Response } from 'express';
import { StreamBrokenError, toBroken } from '../ai-sdk/index.js';
import { withTimeout } from '../protocol/time.js';
import type { RouteDeps } from './deps.js';
import type { Identity } from './identity.js';
import { pipeToExpress, type Frames } from './pipe-to-express.js';

/** Without a reply in progress, batteries of idle pages matter more than a lost connection, ms. */
export const IDLE_KEEP_ALIVE_MS = 15_000;

/** Interval of checks for a revoked identity during a stream, and time limit of one check, ms. */
const REVOKED_CHECK_MS = 10_000;
/** Longest delay that `setTimeout` accepts, ms. */
const MAX_MS = 2 ** 31 - 1;

/** An expired reply gets this long to say that it breaks off before it is cut, ms. */
export const BREAK_OFF_MS = 1_000;

/**
 * Passes on frames until the reader's token expires, then breaks off as if a worker had died: stock
 * clients learn that something is missing, behind any proxy, and ours continue with another token.
 */
export function untilExpiry(
  frames: Frames,
  { deps, caller: { expiresAt } }: { deps: RouteDeps; caller: Identity },
): Frames {
  if (expiresAt === undefined || deps.repliesOutliveTokens === true) return frames;
  return async function* (signal) {
    const expiry = new AbortController();
    const timer = setTimeout(
      () => {
        expiry.abort();
      },
      Math.min(expiresAt - Date.now(), MAX_MS),
    );
    try {
      yield* frames(AbortSignal.any([signal, expiry.signal]));
    } catch (error) {
      if (!expiry.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
    if (expiry.signal.aborted && !signal.aborted) {
      throw toBroken(new StreamBrokenError('the token of its reader expired'), 0);
    }
  };
}

type Cuttable = Pick<Response, 'destroyed' | 'destroy' | 'once'>;

/** Cuts a reply when its reader's token expires; the reader reconnects without loss. */
export function cutAtExpiry(
  response: Cuttable,
  { expiresAt }: Pick<Identity, 'expiresAt'>,
  afterMs = 0,
): void {
  if (expiresAt === undefined || response.destroyed) return;
  const timer = setTimeout(
    () => response.destroy(),
    Math.min(expiresAt - Date.now() + afterMs, MAX_MS),
  );
  response.once('close', () => {
    clearTimeout(timer);
  });
}

/** Cuts a reply once its reader's identity is revoked; a failed check counts as revoked. */
export function cutWhenRevoked(response: Cuttable, { revoked }: Pick<Identity, 'revoked'>): void {
  if (revoked === undefined || response.destroyed) return;
  const cut = (): void => {
    response.destroy();
  };
  if (typeof revoked !== 'function') {
    revoked.addEventListener('abort', cut);
    response.once('close', () => {
      revoked.removeEventListener('abort', cut);
    });
    if (revoked.aborted) cut();
    return;
  }
  const ask = async (): Promise<boolean> => revoked();
  const timer = setInterval(() => {
    withTimeout(REVOKED_CHECK_MS, ask()).then((isRevoked) => {
      if (isRevoked) cut();
    }, cut);
  }, REVOKED_CHECK_MS);
  response.once('close', () => {
    clearInterval(timer);
  });
}

interface StreamReplyOptions {
  sessionId: string;
  headers: Record<string, string>;
  /** True if only the reader ends the stream; it is always cut when the caller's token expires. */
  isEndless?: boolean;
  keepAliveMs?: number;
}

/** Replies with a stream of frames. A break is only logged: the reader goes on from its cursor. */
export async function streamReply(
  { deps, response, caller }: { deps: RouteDeps; response: Response; caller: Identity },
  frames: Frames,
  { sessionId, headers, isEndless = false, keepAliveMs }: StreamReplyOptions,
): Promise<void> {
  const { metrics, logger } = deps;
  if (isEndless) cutAtExpiry(response, caller);
  try {
    await pipeToExpress(frames, response, {
      headers,
      keepAliveMs: deps.keepAliveMs ?? keepAliveMs,
      isEndless,
      meter: metrics.streams,
    });
  } catch (error) {
    let cause = error;
    while (cause instanceof StreamBrokenError && cause.cause !== undefined) cause = cause.cause;
    if (cause instanceof StreamBrokenError) {
      logger.info({ sessionId, reason: cause.message }, 'a stream broke off');
    } else {
      logger.warn({ err: cause, sessionId }, 'a stream broke off');
    }
  }
}
