import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, RequestHandler } from 'express';
import { hasCode, HelixError } from '../../protocol/errors.js';

const DECOMPRESSORS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The kind decides which leftovers of the host's parsers still hold the whole body. */
type BodyKind = 'json' | 'form' | 'file';

/**
 * Reads a request's body, decompressed, up to the limit; `look` gets every chunk as it arrives, and
 * may throw. A body that a parser of the host has read is taken from the request. @throws
 * HelixError `body_too_large`, `unsupported_media_type`, `validation_error` for a corrupt or
 * incomplete body, `internal_error` if the host left nothing
 */
export async function readBody(
  request: Request,
  limit: number,
  look: (bytes: Buffer) => void = () => undefined,
  kind: BodyKind = 'json',
): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0);
  const pieces: Buffer[] = [];
  let received = 0;
  const take = (bytes: Buffer): void => {
    received += bytes.length;
    if (received > limit) throw bodyTooLarge();
    look(bytes);
    pieces.push(bytes);
  };
  if (request.readableDidRead || request.readableEnded) {
    take(bytesLeftByHost(request, kind));
    return Buffer.concat(pieces);
  }
  const body = decompress(request);
  try {
    // The request stays open for the reply.
    for await (const bytes of body.iterator({ destroyOnReturn: false })) take(bytes as Buffer);
    return Buffer.concat(pieces, received);
  } catch (error) {
    if (HelixError.isInstance(error)) throw error;
    throw new HelixError('validation_error', 'The request body cannot be read.', { cause: error });
  } finally {
    request.unpipe();
    if (body !== request) body.destroy();
    // The rest is read and dropped, so that the connection can be reused.
    request.resume();
  }
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Restores a body that a parser of the host read before the API and left as `rawBody` or `body`:
 * bytes, a string, an object of JSON, or the fields of a form.
 */
function bytesLeftByHost(request: Request, kind: BodyKind): Buffer {
  const { body, rawBody } = request as { body?: unknown; rawBody?: unknown };
  const left = rawBody ?? body;
  if (left instanceof Uint8Array) return Buffer.from(left);
  const hasParts = request.is('multipart/form-data') !== false;
  if (left === undefined || left === null || kind === 'file' || hasParts) throw readByHost();
  if (typeof left === 'string') return Buffer.from(left);
  if (request.is('application/x-www-form-urlencoded') !== false) {
    // JSON that was sent with the type of a form is cut at each & and =.
    if (kind !== 'form') throw readByHost();
    const fields = Object.entries(left).map(([name, value]) => [name, String(value)]);
    return Buffer.from(String(new URLSearchParams(fields)));
  }
  try {
    return Buffer.from(JSON.stringify(left));
  } catch (cause) {
    // The JSON is nested too deeply for `JSON.stringify`.
    throw new HelixError('validation_error', 'The request body is nested too deeply.', { cause });
  }
}

function readByHost(): HelixError {
  const cure =
    'Mount createApi before body parsers and before anything else that reads request bodies.';
  const text = 'This server read the request body before its API could.';
  return new HelixError('internal_error', text, { cause: new Error(cure) });
}

export function bodyTooLarge(): HelixError {
  return new HelixError('body_too_large', 'The request body is too large.');
}

function decompress(request: Request): Readable {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return request;
  const create = DECOMPRESSORS.get(encoding);
  if (create === undefined) {
    const text = 'The compression of the request body is not supported.';
    throw new HelixError('unsupported_media_type', text);
  }
  const body = request.pipe(create());
  // A pipe does not tell that the sender has left, before it or during it.
  const leave = (): void => {
    if (!request.readableEnded) body.destroy(new Error('the sender has left'));
  };
  if (request.destroyed) leave();
  else request.once('close', leave);
  return body;
}

/** One request's share of its sender's budget. */
export interface BodyShare {
  /** Counts bytes that arrived. @throws HelixError `too_many_requests` if the budget is exceeded */
  take: (bytes: number) => void;
  release: () => void;
}

export type BodyBudget = (request: Request) => Promise<BodyShare>;

/** Bytes that a form adds to its file: names and boundaries. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads a file into `request.body`. Its bytes count toward the sender's budget until the reply is
 * complete. @throws HelixError `body_too_large`, `too_many_requests`, `validation_error`
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
      const isTooLarge = hasCode(error, 'body_too_large');
      throw isTooLarge ? fileTooLarge(maxBytes) : error;
    }
    next();
  };
}

export function fileTooLarge(maxBytes: number): HelixError {
  const max = `${String(Math.floor((maxBytes / (1024 * 1024)) * 10) / 10)} MB`;
  const text =
    maxBytes === 0
      ? 'This server takes no files.'
      : `The file is too large; it may have up to ${max}.`;
  return new HelixError('body_too_large', text, { detail: { maxBytes } });
}
