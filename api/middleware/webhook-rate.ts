import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { HelixError } from '../../protocol/errors.js';

/** From one address: a webhook has no caller. */
const REQUESTS_PER_MINUTE = 600;

export function createWebhookRate(): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: REQUESTS_PER_MINUTE,
    standardHeaders: true,
    legacyHeaders: false,
    handler: () => {
      throw new HelixError('too_many_requests', 'Too many requests to webhooks from this address.');
    },
  });
}
