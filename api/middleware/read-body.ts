import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HelixError } from '../../protocol/errors.js';

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
export function readBody(
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
        if (received > limit) throw bodyTooLarge();
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

export function bodyTooLarge(): HelixError {
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
