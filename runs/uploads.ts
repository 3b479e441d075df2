import { createHash, randomUUID } from 'node:crypto';
import { hasCode, HelixError } from '../protocol/errors.js';
import { formatFileUrl, parseFileUrl, rootOf, toShownSessionId } from '../protocol/ids.js';
import { filesOf, type AssistantPart, type Row, type UserPart } from '../protocol/rows.js';
import { LIMITS } from '../protocol/limits.js';
import type { AddFileResult, StoredFile } from '../store/contract/files.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { Admit } from './before-begin.js';
import { refusal } from './refusals.js';

export interface UploadInput extends SessionOwner {
  /** The conversation; it need not exist yet. */
  sessionId: string;
  mediaType: string;
  filename?: string | undefined;
  /** Run, step and attempt of the model that made it. */
  madeBy?: string | undefined;
  content: Uint8Array;
}

export interface Uploads {
  /**
   * Stores a file of a conversation.
   *
   * @throws HelixError `not_found` for another owner's conversation, `quota_exceeded`
   */
  upload: (input: UploadInput) => Promise<StoredFile>;
  /** Removes a file; messages that name it keep its name. False if there was none. */
  removeFile: (sessionId: string, fileId: string) => Promise<boolean>;
}

export const SESSION_FILES = { files: LIMITS.files, bytes: LIMITS.sessionFileBytes };

/** Stores files within the limits of their conversation and of its owner. */
export function createUploads(deps: {
  store: Pick<Store, 'owners' | 'due' | 'files'>;
  admit: Admit;
  logger: { warn: (fields: object, message: string) => void };
}): Uploads {
  const { store, admit, logger } = deps;
  const { files, owners, due } = store;

  /** Charges the owner for the conversation's files, even before its first message. */
  async function charge(sessionId: string, owner?: SessionOwner): Promise<void> {
    await owners.fold(sessionId, owner).catch((error: unknown) => {
      logger.warn({ err: error, sessionId }, 'files are left to be charged later');
    });
  }

  return {
    upload: async ({ sessionId, owner, tenant, content, mediaType, filename, madeBy }) => {
      const whose = { owner, tenant };
      const bytes = content.byteLength;
      const done = await admit({ ...whose, sessionId, bytes, purpose: 'copy' });
      const sha256 = createHash('sha256').update(content).digest('hex');
      const file = { id: randomUUID(), mediaType, filename, sha256, at: Date.now(), madeBy };
      let result: AddFileResult;
      try {
        // The sweep removes the bytes of a file that no conversation claims.
        if (files.reclaim !== undefined) {
          await due.noteLater(rootOf(sessionId), LIMITS.unclaimedFilesMs);
        }
        const input = { ...whose, sessionId, file, content };
        result = await files.add({ ...input, limits: SESSION_FILES });
      } finally {
        await charge(sessionId);
        done();
      }
      if (result.kind === 'not_found') throw refusal('not_found');
      if (result.kind === 'exceeded') throw tooMany(result.what, result.limit);
      return result.file;
    },
    removeFile: async (sessionId, fileId) => {
      const file = await files.read(sessionId, fileId);
      const wasThere = await files.remove(sessionId, fileId);
      if (wasThere) await charge(sessionId, file);
      return wasThere;
    },
  };
}

function tooMany(what: 'files' | 'bytes', limit: number): HelixError {
  const megabytes = String(Math.floor(limit / (1024 * 1024)));
  const max = what === 'files' ? `${String(limit)} files` : `${megabytes} MB of files`;
  const text = `A conversation may have ${max}. Remove one, or begin another conversation.`;
  return new HelixError('quota_exceeded', text, { detail: { what, of: 'session', limit } });
}

interface FileCopy {
  from: string;
  to: string;
  owner: SessionOwner;
  rows: readonly Row[];
}

/**
 * Copies the files that rows name, since each conversation is erased with its own files. Returns
 * the rows with the names of the copies, and the copies' ids.
 */
export async function copyFiles(
  { files }: Pick<Store, 'files'>,
  upload: Uploads['upload'],
  { from, to, owner, rows }: FileCopy,
): Promise<{ rows: readonly Row[]; ids: readonly string[] }> {
  const copies = new Map<string, string>();
  const ids: string[] = [];
  for (const url of new Set(rows.flatMap(filesOf).map((file) => file.url))) {
    const reference = parseFileUrl(url);
    if (reference?.sessionId !== toShownSessionId(from)) continue;
    const file = await files.read(from, reference.fileId);
    const content = file && (await files.content(from, file.id, { from: 0, to: file.bytes }));
    if (file === undefined || content === undefined) continue;
    const { mediaType, filename } = file;
    const copy = await upload({ ...owner, sessionId: to, mediaType, filename, content }).catch(
      (error: unknown) => {
        const isForeign = hasCode(error, 'not_found');
        // Another owner has files under that id.
        throw isForeign ? refusal('session_exists') : error;
      },
    );
    ids.push(copy.id);
    copies.set(url, formatFileUrl({ sessionId: toShownSessionId(to), fileId: copy.id }));
  }
  return { rows: copies.size === 0 ? rows : rows.map((row) => rename(row, copies)), ids };
}

function rename(row: Row, copies: ReadonlyMap<string, string>): Row {
  if (row.role === 'tool') return row;
  return row.role === 'user'
    ? { ...row, parts: row.parts.map((part) => renamed(part, copies)) }
    : { ...row, parts: row.parts.map((part) => renamed(part, copies)) };
}

function renamed<Part extends UserPart | AssistantPart>(
  part: Part,
  copies: ReadonlyMap<string, string>,
): Part {
  const copyOf = (url: string): string => copies.get(url) ?? url;
  if (part.type === 'file') return { ...part, url: copyOf(part.url) };
  if (part.type !== 'reasoning' || part.stands?.type !== 'reasoning-file') return part;
  return { ...part, stands: { ...part.stands, url: copyOf(part.stands.url) } };
}
