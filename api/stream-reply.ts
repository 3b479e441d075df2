import type { Response } from 'express';
import { StreamBrokenError } from '../ai-sdk/index.js';
import type { RouteDeps } from './deps.js';
import type { Identity } from './identity.js';
import { pipeToExpress, type Frames } from './pipe-to-express.js';

/** Without a reply that comes in, a lost connection matters less than the batteries of idle pages. */
export const IDLE_KEEP_ALIVE_MS = 15_000;

interface StreamReplyOptions {
  /** For the log. */
  sessionId: string;
  headers: Record<string, string>;
  /** True for a stream that only its reader ends: it is cut when the caller's token expires. */
  isEndless?: boolean;
  /** Default: that of a reply. */
  keepAliveMs?: number;
}

/** Replies with a stream of frames. A break is logged: its reader goes on from its cursor, and loses nothing. */
export async function streamReply(
  { deps, response, caller }: { deps: RouteDeps; response: Response; caller: Identity },
  frames: Frames,
  { sessionId, headers, isEndless = false, keepAliveMs }: StreamReplyOptions,
): Promise<void> {
  const { metrics, logger } = deps;
  try {
    await pipeToExpress(frames, response, {
      headers,
      keepAliveMs: deps.keepAliveMs ?? keepAliveMs,
      isEndless,
      meter: metrics.streams,
      until: isEndless ? caller.expiresAt : undefined,
      revoked: caller.revoked,
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
