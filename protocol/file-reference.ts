import { isSessionId } from './ids.js';

/** Format of the id of a file; the server makes it. */
const FILE_ID = /^[A-Za-z0-9_-]{16,64}$/;

/** A file of a conversation, as messages name it. */
export interface FileReference {
  /** As clients know it. */
  sessionId: string;
  fileId: string;
}

/** The address by which a message names a file of its conversation, and which serves the file. */
export function formatFileUrl({ sessionId, fileId }: FileReference): string {
  return `/api/chat/${sessionId}/files/${fileId}`;
}

/** Undefined for any other address. */
export function parseFileUrl(url: string): FileReference | undefined {
  const [, sessionId = '', fileId = ''] = /^\/api\/chat\/([^/]+)\/files\/([^/]+)$/.exec(url) ?? [];
  return isSessionId(sessionId) && FILE_ID.test(fileId) ? { sessionId, fileId } : undefined;
}

/** True for the id of a file. */
export function isFileId(value: string): boolean {
  return FILE_ID.test(value);
}
