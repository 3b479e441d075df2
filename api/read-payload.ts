import type { Request } from 'express';
import { HelixError } from '../protocol/errors.js';
import { isDeeperThan } from '../protocol/json-depth.js';
import { LIMITS } from '../protocol/limits.js';

/** What is sent to a webhook: JSON, whatever its content type; null without a body. */
export async function readPayload(request: Request): Promise<unknown> {
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
