import { parseFileUrl } from './file-reference.js';
import type { AssistantPart } from './rows.js';

/** A file that a model made and that is stored with the conversation; none for other parts. */
export function madeFileOf(part: AssistantPart): { url: string; mediaType: string }[] {
  const file = part.type === 'reasoning' ? part.stands : part;
  if (file?.type !== 'file' && file?.type !== 'reasoning-file') return [];
  return parseFileUrl(file.url) === undefined ? [] : [{ url: file.url, mediaType: file.mediaType }];
}
