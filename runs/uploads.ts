import { createHash, randomUUID } from 'node:crypto';
import { HelixError } from '../protocol/errors.js';
import { rootOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { AddFileResult, StoredFile } from '../store/contract/files.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { Admit } from './before-begin.js';
import { notFound } from './refusals.js';

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

export interface UploadsDeps {
  store: Pick<Store, 'owners' | 'due' | 'files'>;
  admit: Admit;
  logger: { warn: (fields: object, message: string) => void };
}

/** Limits of one conversation's files. */
export const SESSION_FILES = { files: LIMITS.files, bytes: LIMITS.sessionFileBytes };

/** Stores files within the limits of their conversation and of its owner. */
export function createUploads({ store, admit, logger }: UploadsDeps): Uploads {
  const { files, owners, due } = store;

  /** Charges the owner for the conversation's files, even before its first message. */
  async function charge(sessionId: string, owner?: SessionOwner): Promise<void> {
    await owners.fold(sessionId, owner).catch((error: unknown) => {
      logger.warn({ err: error, sessionId }, 'files are left to be charged later');
    });
  }

  return {
    upload: async ({ sessionId, owner, tenant, content, mediaType, filename, madeBy }) => {
      const whose = { owner, ...(tenant !== undefined && { tenant }) };
      const bytes = content.byteLength;
      const done = await admit({ ...whose, sessionId, bytes, purpose: 'copy' });
      const sha256 = createHash('sha256').update(content).digest('hex');
      const id = randomUUID();
      const made = madeBy === undefined ? {} : { madeBy };
      const file = { id, mediaType, filename, sha256, at: Date.now(), ...made };
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
      if (result.kind === 'not_found') throw notFound();
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
  const most = what === 'files' ? `${String(limit)} files` : `${toMegabytes(limit)} of files`;
  const text = `A conversation may have ${most}. Remove one, or begin another conversation.`;
  return new HelixError('quota_exceeded', text, { detail: { what, of: 'session', limit } });
}

function toMegabytes(bytes: number): string {
  return `${String(Math.floor(bytes / (1024 * 1024)))} MB`;
}
