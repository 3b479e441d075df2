import type { SessionOwner } from './waiting.js';

/** A file of a conversation, without its bytes. */
export interface StoredFile {
  id: string;
  mediaType: string;
  filename?: string | undefined;
  bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  sha256: string;
  /** ms since the epoch. */
  at: number;
  owner: string;
  tenant?: string | undefined;
  /** Run, step and attempt whose model made it; absent for a user's file. */
  madeBy?: string | undefined;
}

export interface AddFileInput extends SessionOwner {
  /** The conversation; it need not exist yet. */
  sessionId: string;
  file: Pick<StoredFile, 'id' | 'mediaType' | 'filename' | 'sha256' | 'at' | 'madeBy'>;
  content: Uint8Array;
  /** Limits for all files of the conversation. */
  limits: { files: number; bytes: number };
}

export type AddFileResult =
  | { kind: 'added'; file: StoredFile }
  /** The conversation belongs to another owner. */
  | { kind: 'not_found' }
  | { kind: 'exceeded'; what: 'files' | 'bytes'; limit: number };

/** Part of a file: from `from` to before `to`, in bytes. */
export interface ByteRange {
  from: number;
  to: number;
}

/**
 * Files of conversations. The record describes a file; a `FileStore` has its bytes. Files of a conversation that does
 * not exist expire after `LIMITS.unclaimedFilesMs`. Once it exists, they stay until they are removed or the
 * conversation is erased.
 */
export interface Files {
  /** Resolves once the bytes are stored. */
  add: (input: AddFileInput) => Promise<AddFileResult>;
  read: (sessionId: string, fileId: string) => Promise<StoredFile | undefined>;
  /** All files of a conversation, the oldest first. */
  list: (sessionId: string) => Promise<StoredFile[]>;
  /** Returns undefined if the bytes are missing. */
  content: (sessionId: string, fileId: string, range: ByteRange) => Promise<Uint8Array | undefined>;
  /** Returns false if there was no such file. */
  remove: (sessionId: string, fileId: string) => Promise<boolean>;
  /** Removes the bytes of a file whose conversation was erased. */
  forget: (sessionId: string, fileId: string) => Promise<void>;
  /** Removes an owner's files from conversations that were never begun. Repeatable. @returns those conversations */
  eraseUnclaimed: (owner: SessionOwner) => Promise<string[]>;
  /**
   * Removes the bytes of expired or displaced files. Present if a separate store keeps the bytes. Repeatable.
   *
   * @returns the time until the next necessary call, ms; undefined if the conversation has no files that expire
   */
  reclaim?: (sessionId: string) => Promise<number | undefined>;
}

export interface FilePlace {
  /** Stored id of the conversation. */
  sessionId: string;
  fileId: string;
}

/** Holds the bytes of files: Redis by default, a folder, or any object store. A file is written once, never changed. */
export interface FileStore {
  /** Resolves once the bytes are durable. */
  write: (place: FilePlace, content: Uint8Array) => Promise<void>;
  /** Returns undefined if the file does not exist. */
  read: (place: FilePlace, range: ByteRange) => Promise<Uint8Array | undefined>;
  /** Does nothing if the file does not exist. */
  remove: (place: FilePlace) => Promise<void>;
}
