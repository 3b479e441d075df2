import type {
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
  LanguageModelV4Source,
} from '@ai-sdk/provider';
import type { ChunkOf } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { UnseenContent } from '../../protocol/rows.js';

type Base = 'agentId' | 'agentType' | 'step' | 'timestamp';

/** What a model says beside text: where it has something from, and files that it has made. */
export type Attachment =
  | Omit<ChunkOf<'source_url'>, Base>
  | Omit<ChunkOf<'source_document'>, Base>
  | Omit<ChunkOf<'file'>, Base>;

/** Of a chunk's size, a little is left for the fields that all chunks have. */
export const MAX_ATTACHMENT_BYTES = LIMITS.chunkBytes - 2 * 1024;

type ModelFile = LanguageModelV4File | LanguageModelV4ReasoningFile;
export type ShownPart = LanguageModelV4Source | LanguageModelV4File;

/** A file of the model's reasoning, which pages are not shown. */
export function toUnseenFile(part: LanguageModelV4ReasoningFile, keptAt?: string): UnseenContent {
  return { type: part.type, url: keptAt ?? toUrl(part), mediaType: part.mediaType };
}

/** @param keptAt the address of a file that was stored */
export function toAttachment(part: ShownPart, keptAt?: string): Attachment {
  if (part.type === 'file') {
    return { type: 'file', url: keptAt ?? toUrl(part), mediaType: part.mediaType };
  }
  const { id: sourceId, title } = part;
  if (part.sourceType === 'url') {
    const { url } = part;
    return { type: 'source_url', sourceId, url, title };
  }
  const { mediaType, filename } = part;
  const named = filename === undefined ? {} : { filename };
  return { type: 'source_document', sourceId, mediaType, title: part.title, ...named };
}

/** Files travel as data URLs, unless the provider keeps them. */
function toUrl({ data, mediaType }: ModelFile): string {
  if (data.type === 'url') return data.url.toString();
  const bytes = data.data;
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64');
  return `data:${mediaType};base64,${text}`;
}
