import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { createJsonMeter, type JsonBounds } from './json-size.js';
import { replaceLoneSurrogates } from './lone-surrogates.js';

/** The share that one request has of its sender's budget. */
export interface BodyShare {
  /** Counts bytes that arrived. @throws HelixError `too_many_requests` if the budget is exceeded */
  take: (bytes: number) => void;
  /** Frees the whole share. */
  release: () => void;
}

export type BodyBudget = (request: Request) => Promise<BodyShare>;

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** A larger body is parsed in steps, between which other requests are served. */
const LARGE_BYTES = 256 * 1024;

const BOUNDS: JsonBounds = { depth: LIMITS.jsonDepth, values: LIMITS.jsonValues };

/**
 * Reads JSON bodies up to the limits of size, depth and number of values, without lone surrogates.
 *
 * @param budget bytes that one sender may have in flight. Default: unlimited
 * @throws HelixError `body_too_large`, `too_many_requests`, `unsupported_media_type`, `validation_error`
 */
export function createJsonBody(budget: BodyBudget = unlimited): RequestHandler {
  return async (request, _response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw tooLarge();
    if (hasBody(request)) {
      refuseUnread(request);
      const share = await budget(request);
      try {
        const body = await readBody(request, LIMITS.bodyBytes, createBoundsCheck(share));
        request.body = await parse(body);
      } finally {
        share.release();
      }
    }
    next();
  };
}

const NO_BOUNDS: BodyShare = { take: () => undefined, release: () => undefined };
const unlimited: BodyBudget = () => Promise.resolve(NO_BOUNDS);

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** An unread body must not pass for an empty one: an abort would become an interrupt. */
function refuseUnread(request: Request): void {
  if (request.is(JSON_TYPES) === false) {
    throw unsupported('Send JSON as application/json.');
  }
  const type = request.get('content-type') ?? '';
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') {
    throw unsupported('The request body must be UTF-8.');
  }
}

function createBoundsCheck(share: BodyShare): (bytes: Buffer) => void {
  const measure = createJsonMeter(BOUNDS);
  return (bytes) => {
    share.take(bytes.length);
    const excess = measure(bytes);
    if (excess === 'depth') throw invalid('The request body is nested too deeply.');
    if (excess === 'values') {
      throw new HelixError('body_too_large', 'The request body has too many JSON values.');
    }
  };
}

/** The object or array of a body; undefined for an empty one. */
async function parse(body: Buffer): Promise<unknown> {
  if (body.length === 0) return undefined;
  const rest = async (): Promise<void> => {
    if (body.length > LARGE_BYTES) await nextTick();
  };
  replaceLoneSurrogates(body);
  await rest();
  const text = body.toString();
  await rest();
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) throw notJson();
  await rest();
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

function notJson(cause?: unknown): HelixError {
  return invalid('The request body is not JSON.', cause);
}

function invalid(text: string, cause?: unknown): HelixError {
  return new HelixError('validation_error', text, { cause });
}

function unsupported(text: string): HelixError {
  return new HelixError('unsupported_media_type', text);
}

const DECOMPRESSORS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads a request's body, decompressed. It stops as soon as the body exceeds the limit, or `look`,
 * which gets every chunk as it arrives, throws.
 *
 * @throws HelixError `body_too_large`, `unsupported_media_type` for an unknown compression,
 * `validation_error` for a corrupt one and for a sender that disconnects; what `look` throws
 */
function readBody(
  request: IncomingMessage,
  limit: number,
  look: (bytes: Buffer) => void,
): Promise<Buffer> {
  const { decompressed, release } = decompress(request);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let received = 0;
    const stop = (error?: Error): void => {
      decompressed.off('data', take).off('end', finish);
      request.off('close', leave);
      release();
      if (error === undefined) resolve(Buffer.concat(pieces, received));
      else reject(error);
    };
    const take = (bytes: Buffer): void => {
      received += bytes.length;
      try {
        if (received > limit) throw tooLarge();
        look(bytes);
        pieces.push(bytes);
      } catch (error) {
        stop(error as Error);
      }
    };
    const finish = (): void => {
      stop();
    };
    const fail = (cause: unknown): void => {
      stop(new HelixError('validation_error', 'The request body cannot be read.', { cause }));
    };
    const leave = (): void => {
      if (!request.complete) fail(undefined);
    };
    decompressed.on('data', take).on('end', finish).on('error', fail);
    request.on('close', leave);
  });
}

function tooLarge(): HelixError {
  return new HelixError('body_too_large', 'The request body is too large.');
}

/** The decompressed body, and how to stop reading it: the request itself stays open for the reply. */
function decompress(request: IncomingMessage): { decompressed: Readable; release: () => void } {
  const { 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.toLowerCase() === 'identity')
    return { decompressed: request, release: () => undefined };
  const create = DECOMPRESSORS.get(encoding.toLowerCase());
  if (create === undefined) {
    throw new HelixError(
      'unsupported_media_type',
      'The compression of the request body is not supported.',
    );
  }
  const decompressed = request.pipe(create());
  const release = (): void => {
    request.unpipe(decompressed);
    decompressed.destroy();
    // The rest is read and dropped, so that the connection can be reused.
    request.resume();
  };
  return { decompressed, release };
}
