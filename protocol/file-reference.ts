import { z } from 'zod';
import { isSessionId } from './ids.js';
import type { AssistantPart } from './rows.js';

/** Format of the file ids that the server makes. */
const FILE_ID = /^[A-Za-z0-9_-]{16,64}$/;

/** A file of a conversation, as messages name it. */
export interface FileReference {
  /** Shown id. */
  sessionId: string;
  fileId: string;
}

/** Formats the address that serves a file, and by which messages name it. */
export function formatFileUrl({ sessionId, fileId }: FileReference): string {
  return `/api/chat/${sessionId}/files/${fileId}`;
}

/** Returns undefined for any other address. */
export function parseFileUrl(url: string): FileReference | undefined {
  const [, sessionId = '', fileId = ''] = /^\/api\/chat\/([^/]+)\/files\/([^/]+)$/.exec(url) ?? [];
  return isSessionId(sessionId) && FILE_ID.test(fileId) ? { sessionId, fileId } : undefined;
}

export function isFileId(value: string): boolean {
  return FILE_ID.test(value);
}

/** A stored file: the message part that names it, with its id and size. */
export const UploadedFile = z
  .object({
    type: z.literal('file'),
    /** Serves the file to its owner. */
    url: z.string(),
    mediaType: z.string(),
    filename: z.string().optional(),
    id: z.string(),
    bytes: z.number(),
  })
  .meta({ id: 'UploadedFile' });
export type UploadedFile = z.infer<typeof UploadedFile>;

/** Returns the stored file that a model made, in a list; an empty list for other parts. */
export function madeFileOf(part: AssistantPart): { url: string; mediaType: string }[] {
  const file = part.type === 'reasoning' ? part.stands : part;
  if (file?.type !== 'file' && file?.type !== 'reasoning-file') return [];
  return parseFileUrl(file.url) === undefined ? [] : [{ url: file.url, mediaType: file.mediaType }];
}
