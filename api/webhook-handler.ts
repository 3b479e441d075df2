import type { Request, RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { HelixError } from '../protocol/errors.js';
import { isDeeperThan } from '../protocol/json-depth.js';
import { LIMITS } from '../protocol/limits.js';
import type { RouteDeps } from './deps.js';

/** From one address. */
const REQUESTS_PER_MINUTE = 600;

/**
 * Takes what is sent to the webhook of a tool. There is no caller: the address is the permission, so
 * a request from elsewhere needs no account and no origin.
 */
export function createWebhookHandlers({
  executor,
}: Pick<RouteDeps, 'executor'>): [limit: RequestHandler, accept: RequestHandler] {
  const limit = rateLimit({
    ...{
      windowMs: 60_000,
      limit: REQUESTS_PER_MINUTE,
      standardHeaders: true,
      legacyHeaders: false,
    },
    handler: () => {
      throw new HelixError('too_many_requests', 'Too many requests to webhooks from this address.');
    },
  });
  const accept: RequestHandler = async (request, response) => {
    const { token } = request.params;
    if (executor.callWebhook === undefined || typeof token !== 'string') {
      throw new HelixError('not_found', 'There is no such webhook.');
    }
    await executor.callWebhook(token, await readPayload(request));
    response.json({ status: 'accepted' });
  };
  return [limit, accept];
}

/** JSON; null without a body. */
async function readPayload(request: Request): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > LIMITS.webhookBytes) {
      throw new HelixError('body_too_large', 'A webhook takes at most 256 KB.');
    }
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  if (text === '') return null;
  if (isDeeperThan(LIMITS.jsonDepth, text)) {
    throw new HelixError('validation_error', 'The body is nested too deeply.');
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HelixError('validation_error', 'A webhook takes JSON.');
  }
}
