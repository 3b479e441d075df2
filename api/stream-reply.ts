import type { Response } from 'express';
import { StreamBrokenError } from '../ai-sdk/index.js';
import type { RouteDeps } from './deps.js';
import type { Identity } from './identity.js';
import { pipeToExpress, type Frames } from './pipe-to-express.js';

interface StreamReplyOptions {
  /** For the log. */
  sessionId: string;
  headers: Record<string, string>;
  /** True for a stream that only its reader ends: it is cut when the caller's token expires. */
  isEndless?: boolean;
}

/**
 * Replies with a stream of frames. One that breaks off is cut and logged: its reader reconnects from
 * its cursor, so nothing is lost.
 */
export async function streamReply(
  { deps, response, caller }: { deps: RouteDeps; response: Response; caller: Identity },
  frames: Frames,
  { sessionId, headers, isEndless = false }: StreamReplyOptions,
): Promise<void> {
  const { keepAliveMs, metrics, logger } = deps;
  try {
    await pipeToExpress(frames, response, {
      headers,
      keepAliveMs,
      meter: metrics.streams,
      until: isEndless ? caller.expiresAt : undefined,
      revoked: caller.revoked,
    });
  } catch (error) {
    if (error instanceof StreamBrokenError) {
      logger.info({ sessionId, reason: error.message }, 'a stream was cut');
    } else {
      logger.warn({ err: error, sessionId }, 'a stream was cut');
    }
  }
}
