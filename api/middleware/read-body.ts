import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HelixError } from '../../protocol/errors.js';

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
export function readBody(
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

export function tooLarge(): HelixError {
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
