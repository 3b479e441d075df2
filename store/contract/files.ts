import type { SessionOwner } from './waiting.js';

/** A file of a conversation, without its bytes. */
export interface StoredFile {
  id: string;
  mediaType: string;
  filename?: string | undefined;
  /** Size in bytes. */
  bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  sha256: string;
  /** ms since the epoch. */
  at: number;
  owner: string;
  tenant?: string | undefined;
  /** Run, step and attempt whose model made it; absent: a user's. */
  madeBy?: string | undefined;
}

export interface AddFileInput extends SessionOwner {
  /** The conversation; it need not exist yet. */
  sessionId: string;
  file: Pick<StoredFile, 'id' | 'mediaType' | 'filename' | 'sha256' | 'at' | 'madeBy'>;
  content: Uint8Array;
  /** What the conversation may hold altogether. */
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
 * Files of conversations. The record has what a file is; its bytes are in a `FileStore`. Files of a
 * conversation that does not exist expire after `LIMITS.unclaimedFilesMs`; once it exists they
 * stay until they are removed or the conversation is erased.
 */
export interface Files {
  /** Resolves once the bytes are stored. */
  add: (input: AddFileInput) => Promise<AddFileResult>;
  /** Undefined if there is no such file. */
  read: (sessionId: string, fileId: string) => Promise<StoredFile | undefined>;
  /** All files of a conversation, the oldest first. */
  list: (sessionId: string) => Promise<StoredFile[]>;
  /** Undefined if the bytes are not there. */
  content: (sessionId: string, fileId: string, range: ByteRange) => Promise<Uint8Array | undefined>;
  /** False if there was no such file. */
  remove: (sessionId: string, fileId: string) => Promise<boolean>;
  /** Removes the bytes of a file whose conversation was erased. */
  forget: (sessionId: string, fileId: string) => Promise<void>;
  /**
   * Removes what an owner has added to conversations that were never begun. It can be repeated.
   *
   * @returns those conversations
   */
  eraseUnclaimed: (owner: SessionOwner) => Promise<string[]>;
  /**
   * Where the bytes are in a store of their own: removes there those of files that have expired or
   * were displaced. It can be repeated.
   *
   * @returns how long until this is needed again, ms; undefined if the conversation has no files, or
   * none that expire
   */
  reclaim?: (sessionId: string) => Promise<number | undefined>;
}

/** Where the bytes of a file are. */
export interface FilePlace {
  /** The conversation, as it is stored. */
  sessionId: string;
  fileId: string;
}

/**
 * Holds the bytes of files: Redis by default, a folder, or any object store. A file is written once,
 * by one writer, and never changed.
 */
export interface FileStore {
  /** Resolves once the bytes are durable. */
  write: (place: FilePlace, content: Uint8Array) => Promise<void>;
  /** Undefined if the file is not there. */
  read: (place: FilePlace, range: ByteRange) => Promise<Uint8Array | undefined>;
  /** Does nothing if the file is not there. */
  remove: (place: FilePlace) => Promise<void>;
}
