import type { Request, Response } from 'express';
import { notFound } from '../../ai-sdk/index.js';
import { sendPieces } from '../../api/extension.js';
import { LIMITS } from '../../protocol/limits.js';
import type { ByteRange, StoredFile } from '../../store/contract/files.js';

/** Types that browsers display without executing anything; other types are downloaded. */
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/** Reads a range of the file; undefined if its bytes are gone. */
type ReadRange = (range: ByteRange) => Promise<Uint8Array | undefined>;

/**
 * Sends a file or the requested range of it. Files never change, so a browser may reuse its copy, but
 * each request checks the user's right to see the file.
 */
export async function serveFile(
  request: Request,
  response: Response,
  file: StoredFile,
  read: ReadRange,
): Promise<void> {
  const etag = `"${file.sha256}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-type': file.mediaType,
    'content-disposition': toDisposition(file),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  };
  if (isKnown(request.get('if-none-match'), etag)) {
    response.status(304).set(headers).end();
    return;
  }
  const part = toPart(request, file, etag);
  if (part === 'unsatisfiable') {
    response
      .status(416)
      .set({ ...headers, 'content-range': `bytes */${String(file.bytes)}` })
      .end();
    return;
  }
  const { from, to } = part ?? { from: 0, to: file.bytes };
  const first = await read({ from, to: Math.min(to, from + LIMITS.filePieceBytes) });
  if (first === undefined) throw notFound();
  response.set(headers);
  if (part !== undefined) {
    const range = `bytes ${String(from)}-${String(to - 1)}/${String(file.bytes)}`;
    response.status(206).set('content-range', range);
  }
  response.set('content-length', String(to - from));
  // If the reader leaves or the store fails, the reply ends before its announced length.
  await sendPieces(response, pieces(first, { from, to }, read));
}

async function* pieces(
  first: Uint8Array,
  { from, to }: ByteRange,
  read: ReadRange,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let at = from + first.byteLength; at < to;) {
    const piece = await read({ from: at, to: Math.min(to, at + LIMITS.filePieceBytes) });
    if (piece === undefined || piece.byteLength === 0) throw new Error('the file has ended early');
    yield piece;
    at += piece.byteLength;
  }
}

function isKnown(header: string | undefined, etag: string): boolean {
  const known = header?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

/** Returns undefined for the whole file, and for several ranges, which a server may ignore. */
function toPart(
  request: Request,
  { bytes }: StoredFile,
  etag: string,
): ByteRange | 'unsatisfiable' | undefined {
  const condition = request.get('if-range');
  if (condition !== undefined && condition !== etag) return undefined;
  // The parser refuses more last bytes than the file has, which are all of it.
  const [, last] = /^bytes=-(\d+)$/.exec(request.get('range') ?? '') ?? [];
  if (Number(last) > bytes) return { from: 0, to: bytes };
  const ranges = request.range(bytes);
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === undefined || ranges === -2 || ranges.type !== 'bytes') return undefined;
  const [range] = ranges;
  if (range === undefined || ranges.length > 1) return undefined;
  return { from: range.start, to: range.end + 1 };
}

function toDisposition({ mediaType, filename }: StoredFile): string {
  const kind = SHOWN.test(mediaType) ? 'inline' : 'attachment';
  if (filename === undefined) return kind;
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(filename).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`;
}
