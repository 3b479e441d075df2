import type { RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import type { BodyBudget } from './json-body.js';
import { readBody } from './read-body.js';

/** What a form adds to the file in it: names, and the lines between its fields. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads the bytes of a file into `request.body`. They count toward the sender's budget until the reply
 * is complete.
 *
 * @param maxBytes size of one file
 * @throws HelixError `body_too_large`, `too_many_requests`, `validation_error`
 */
export function createUploadBody(maxBytes: number, budget?: BodyBudget): RequestHandler {
  return async (request, response, next) => {
    const isForm = request.is('multipart/form-data') !== false;
    const limit = maxBytes + (isForm ? FORM_BYTES : 0);
    if (Number(request.headers['content-length'] ?? 0) > limit) throw fileTooLarge(maxBytes);
    const share = await budget?.(request);
    response.once('close', () => share?.release());
    try {
      const look = (bytes: Buffer): void => share?.take(bytes.length);
      request.body = await readBody(request, limit, look, 'file');
    } catch (error) {
      const isTooLarge = HelixError.isInstance(error) && error.code === 'body_too_large';
      throw isTooLarge ? fileTooLarge(maxBytes) : error;
    }
    next();
  };
}

export function fileTooLarge(maxBytes: number): HelixError {
  const most = `${String(Math.floor((maxBytes / (1024 * 1024)) * 10) / 10)} MB`;
  const text =
    maxBytes === 0
      ? 'This server takes no files.'
      : `The file is too large; it may have up to ${most}.`;
  return new HelixError('body_too_large', text, { detail: { maxBytes } });
}
