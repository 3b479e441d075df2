import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { createJsonMeter, type JsonBounds } from './json-size.js';
import { replaceLoneSurrogates } from './lone-surrogates.js';

/** What one request takes of its sender's budget. */
export interface BodyShare {
  /** Counts bytes that have come. @throws HelixError `too_many_requests` if they are more than is left */
  take: (bytes: number) => void;
  /** Gives all of it back. */
  release: () => void;
}

export type BodyBudget = (request: Request) => Promise<BodyShare>;

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** What is larger is worked on in steps, between which other requests have their turn. */
const LARGE_BYTES = 256 * 1024;

const BOUNDS: JsonBounds = { depth: LIMITS.jsonDepth, values: LIMITS.jsonValues };

/**
 * Reads JSON bodies that are not too large, too deep or of too many values; text in them is whole
 * characters.
 *
 * @param budget what one sender may have on the way; without it as much as he likes
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

/** What is not read must not be taken for nothing: an abort would become an interrupt. */
function refuseUnread(request: Request): void {
  if (request.is(JSON_TYPES) === false) {
    throw unsupported('Send JSON as application/json.');
  }
  const type = request.get('content-type') ?? '';
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') {
    throw unsupported('The request body has an encoding that is not read.');
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

/** The object or array that a body is; undefined for an empty one. */
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

const UNPACKERS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads a request's body, unpacked, and lets go of it as soon as it turns out to be larger than the
 * limit, or `look`, which is given every piece as it comes, throws.
 *
 * @throws HelixError `body_too_large`, `unsupported_media_type` for a packing that is not known,
 * `validation_error` for one that is broken and for a sender that leaves; whatever `look` throws
 */
function readBody(
  request: IncomingMessage,
  limit: number,
  look: (bytes: Buffer) => void,
): Promise<Buffer> {
  const { unpacked, letGo } = unpack(request);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let received = 0;
    const stop = (error?: Error): void => {
      unpacked.off('data', take).off('end', finish);
      request.off('close', leave);
      letGo();
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
    unpacked.on('data', take).on('end', finish).on('error', fail);
    request.on('close', leave);
  });
}

function tooLarge(): HelixError {
  return new HelixError('body_too_large', 'The request body is too large.');
}

/** What a body is when it is unpacked, and how to stop that: the request itself stays, for the reply. */
function unpack(request: IncomingMessage): { unpacked: Readable; letGo: () => void } {
  const { 'content-encoding': packing = 'identity' } = request.headers;
  if (packing.toLowerCase() === 'identity') return { unpacked: request, letGo: () => undefined };
  const create = UNPACKERS.get(packing.toLowerCase());
  if (create === undefined) {
    throw new HelixError('unsupported_media_type', 'The request body is packed in an unknown way.');
  }
  const unpacked = request.pipe(create());
  const letGo = (): void => {
    request.unpipe(unpacked);
    unpacked.destroy();
    // What is left of it is read on, so that the connection can be used again.
    request.resume();
  };
  return { unpacked, letGo };
}
