import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Request } from 'express';
import { type FileSettings, fileTooLarge, isTakenType, maxFileBytes } from '../../api/extension.js';
import { HelixError, orMissing } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';

export interface Upload {
  mediaType: string;
  filename?: string | undefined;
  content: Uint8Array;
}

/**
 * Reads the uploaded file: the request's body, or the field `file` of a form.
 *
 * @param filename name for a body that is the file itself
 * @throws HelixError `validation_error`, `body_too_large`, `unsupported_media_type`; MissingPackageError
 */
export async function readUpload(
  request: Request,
  filename: string | undefined,
  settings: FileSettings | undefined,
): Promise<Upload> {
  const body = request.body as Buffer;
  const type = request.get('content-type') ?? '';
  const isForm = request.is('multipart/form-data') !== false;
  const given = isForm ? await readForm(body, type) : { content: body, type, filename };
  const { content } = given;
  const mediaType = (given.type.split(';')[0] ?? '').trim().toLowerCase();
  if (content.byteLength === 0) throw invalid('The file is empty.');
  if (content.byteLength > maxFileBytes(settings)) throw fileTooLarge(maxFileBytes(settings));
  if (!isTakenType(mediaType, settings)) {
    const what = mediaType === '' ? 'without a type' : `of type ${mediaType}`;
    throw unsupported(`Files ${what.slice(0, LIMITS.idChars)} are not taken.`);
  }
  if (!mayBeOfType(content, mediaType)) {
    throw unsupported(`The file is not what its type says: ${mediaType}.`);
  }
  return { content, mediaType, filename: toFilename(given.filename) };
}

/** Limits of a form: one file, and few fields, which are not read. */
const FORM_LIMITS = {
  files: 1,
  fields: 4,
  parts: 5,
  headerPairs: 20,
  headerSize: 8 * 1024,
  fieldSize: 64 * 1024,
  fieldNameSize: LIMITS.idChars,
};
/** The parser gets slices of this size, so that other requests are served in between. */
const SLICE_BYTES = 16 * 1024;

/** Parses a form and stops at the first part that exceeds the limits. */
async function readForm(
  body: Buffer,
  type: string,
): Promise<{ content: Uint8Array; type: string; filename: string | undefined }> {
  const { Busboy } = await import('@fastify/busboy').catch(
    orMissing('A file in a form', '@fastify/busboy@3'),
  );
  let file: { pieces: Buffer[]; type: string; filename: string | undefined } | undefined;
  try {
    const form = new Busboy({ headers: { 'content-type': type }, limits: FORM_LIMITS });
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      form.on(limit, () => form.destroy(invalid('The form has too many parts; send one file.')));
    }
    form.on('file', (field, stream, filename, _encoding, mediaType) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      // The form's own error reports the same failure.
      stream.on('error', () => undefined);
      if (field === 'file') file = { pieces, type: mediaType, filename };
    });
    await pipeline(Readable.from(slicesOf(body), { objectMode: false }), form);
  } catch (cause) {
    if (HelixError.isInstance(cause)) throw cause;
    throw new HelixError('validation_error', 'The form cannot be read.', { cause });
  }
  if (file === undefined) throw invalid('The form needs a field `file`.');
  const { pieces, ...rest } = file;
  return { content: Buffer.concat(pieces), ...rest };
}

async function* slicesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    await nextTick();
    yield body.subarray(at, at + SLICE_BYTES);
  }
}

/** Returns the file's base name without control characters, which headers and pages cannot show. */
function toFilename(name: string | undefined): string | undefined {
  const last = name?.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  // oxlint-disable-next-line no-control-regex -- The expression removes control characters.
  const shown = last.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, '').trim();
  return shown === '' ? undefined : shown.slice(-LIMITS.idChars).toWellFormed();
}

function invalid(text: string): HelixError {
  return new HelixError('validation_error', text);
}

function unsupported(text: string): HelixError {
  return new HelixError('unsupported_media_type', text);
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Leading bytes of file types; RIFF files name their type after a length. */
const SIGNATURES: Record<string, readonly { at: number; bytes: Buffer }[]> = {
  'image/png': [{ at: 0, bytes: latin('\x89PNG\r\n\x1a\n') }],
  'image/jpeg': [{ at: 0, bytes: latin('\xff\xd8\xff') }],
  'image/gif': [{ at: 0, bytes: latin('GIF8') }],
  'image/webp': [
    { at: 0, bytes: latin('RIFF') },
    { at: 8, bytes: latin('WEBP') },
  ],
  'audio/wav': [
    { at: 0, bytes: latin('RIFF') },
    { at: 8, bytes: latin('WAVE') },
  ],
};

/** Returns false if the bytes are certainly not of that type; types without a known signature pass. */
function mayBeOfType(content: Uint8Array, mediaType: string): boolean {
  const signature = SIGNATURES[mediaType] ?? [];
  return signature.every(({ at, bytes }) => bytes.equals(content.subarray(at, at + bytes.length)));
}
