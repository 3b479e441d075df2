import { LIMITS } from '../protocol/limits.js';

export interface FileSettings {
  /** Size of one file, bytes. Default 10 MB, at most 64 MB; 0 refuses files. */
  maxBytes?: number | undefined;
  /** Media types, `image/*` for all of a kind. Default: `FILE_TYPES`. */
  types?: readonly string[] | undefined;
}

/** Types that models read and that browsers show without executing their content. */
export const FILE_TYPES: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
  'application/json',
  'text/plain',
  'text/markdown',
  'text/csv',
  'audio/mpeg',
  'audio/wav',
];

export function maxFileBytes({ maxBytes = LIMITS.fileBytes }: FileSettings = {}): number {
  return Math.min(maxBytes, LIMITS.largestFileBytes);
}

export function isTakenType(mediaType: string, { types = FILE_TYPES }: FileSettings = {}): boolean {
  const kind = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`;
  return types.some((type) => type === mediaType || type === kind || type === '*/*');
}
