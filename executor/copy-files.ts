import { HelixError } from '../protocol/errors.js';
import { formatFileUrl, parseFileUrl } from '../protocol/file-reference.js';
import { toShownSessionId } from '../protocol/ids.js';
import { madeFileOf } from '../protocol/made-file.js';
import type { AssistantPart, Row, UserPart } from '../protocol/rows.js';
import type { StoredFile } from '../stores/contract/files.js';
import type { Store } from '../stores/contract/store.js';
import type { SessionOwner } from '../stores/contract/waiting.js';
import type { UploadInput } from './uploads.js';

export interface FileCopy {
  from: string;
  to: string;
  owner: SessionOwner;
  rows: readonly Row[];
}

export interface CopiedFiles {
  /** The rows, naming the copies. */
  rows: readonly Row[];
  /** Ids of the copies. */
  ids: readonly string[];
}

type Upload = (input: UploadInput) => Promise<StoredFile>;

/**
 * Copies the files that rows name, for the copy of a conversation: each conversation is erased with its
 * own files. One that is not there any more stays named.
 *
 * @throws HelixError what `upload` throws
 */
export async function copyFiles(
  { files }: Pick<Store, 'files'>,
  upload: Upload | undefined,
  { from, to, owner, rows }: FileCopy,
): Promise<CopiedFiles> {
  if (upload === undefined) return { rows, ids: [] };
  const copies = new Map<string, string>();
  const ids: string[] = [];
  for (const url of new Set(rows.flatMap(urlsOf))) {
    const reference = parseFileUrl(url);
    if (reference?.sessionId !== toShownSessionId(from)) continue;
    const file = await files.read(from, reference.fileId);
    const content = file && (await files.content(from, file.id, { from: 0, to: file.bytes }));
    if (file === undefined || content === undefined) continue;
    const { mediaType, filename } = file;
    const copy = await upload({ ...owner, sessionId: to, mediaType, filename, content }).catch(
      (error: unknown) => {
        throw isForeign(error) ? taken() : error;
      },
    );
    ids.push(copy.id);
    copies.set(url, formatFileUrl({ sessionId: toShownSessionId(to), fileId: copy.id }));
  }
  return { rows: copies.size === 0 ? rows : rows.map((row) => rename(row, copies)), ids };
}

function urlsOf(row: Row): string[] {
  if (row.role === 'user')
    return row.parts.flatMap((part) => (part.type === 'file' ? part.url : []));
  return row.role === 'tool' ? [] : row.parts.flatMap(madeFileOf).map(({ url }) => url);
}

function rename(row: Row, copies: ReadonlyMap<string, string>): Row {
  if (row.role === 'tool') return row;
  if (row.role === 'user') return { ...row, parts: row.parts.map((part) => renamed(part, copies)) };
  const parts = row.parts.map((part): AssistantPart => {
    if (part.type !== 'reasoning' || part.stands?.type !== 'reasoning-file') {
      return renamed(part, copies);
    }
    const url = copies.get(part.stands.url);
    return url === undefined ? part : { ...part, stands: { ...part.stands, url } };
  });
  return { ...row, parts };
}

function renamed<Part extends UserPart | AssistantPart>(
  part: Part,
  copies: ReadonlyMap<string, string>,
): Part {
  const url = part.type === 'file' ? copies.get(part.url) : undefined;
  return url === undefined ? part : { ...part, url };
}

function isForeign(error: unknown): boolean {
  return HelixError.isInstance(error) && error.code === 'not_found';
}

/** Files of another owner are there under that id. */
function taken(): HelixError {
  return new HelixError('session_exists', 'A conversation with that id exists already.');
}
