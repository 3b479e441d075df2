import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { filesOf, type Row, type UserPart } from '../../protocol/rows.js';
import { parseFileUrl, rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Files, StoredFile } from '../../store/contract/files.js';
import { orAborted } from '../attempt.js';
import type { FetchFile } from './fetch-file.js';
import { RequestFault } from './provider-failure.js';

type FilePart = Omit<Extract<UserPart, { type: 'file' }>, 'type'>;
type PromptFile = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];
export type TextPart = Extract<PromptFile, { type: 'text' }>;

/** Prompt parts for files that messages name, by URL. */
export type PromptFiles = ReadonlyMap<string, PromptFile>;

/** Types given to models as text; providers refuse them as files. */
const TEXT = /^(text\/.+|application\/json(;.*)?)$/i;

export function isText(mediaType: string): boolean {
  return TEXT.test(mediaType);
}

/**
 * Reads the files that messages name, newest first, as far as they fit one model call. A sentence
 * replaces a file that is missing or does not fit.
 *
 * @param sessionId session whose model is asked
 * @param signal aborts when the step is cut or takes too long
 * @throws RequestFault
 */
export async function readPromptFiles(
  files: Files | undefined,
  sessionId: string,
  rows: readonly Row[],
  signal: AbortSignal,
  fetching?: Fetching,
): Promise<PromptFiles> {
  const root = rootOf(sessionId);
  const found = new Map<string, PromptFile>();
  let room: number = LIMITS.promptFileBytes;
  const take = (file: Named, content: Uint8Array): PromptFile => {
    room -= content.byteLength;
    return toContent(file, content);
  };

  async function readFile(part: FilePart): Promise<PromptFile | undefined> {
    const { url, mediaType, filename } = part;
    if (fetching !== undefined && /^https:/i.test(url)) {
      if (isFetchedBy(fetching.supported, url, mediaType)) return undefined;
      const content = room > 0 ? await fetched(url, fetching, signal) : undefined;
      return content
        ? take({ mediaType, filename }, content)
        : sentence(part, 'cannot be fetched.');
    }
    const reference = parseFileUrl(url);
    if (reference === undefined) return undefined;
    const file = await orUnavailable(files?.read(root, reference.fileId), signal);
    if (file !== undefined && file.bytes > room) {
      return sentence(part, 'is left out: this conversation has too many files.');
    }
    const range = { from: 0, to: file?.bytes ?? 0 };
    const content = file && (await orUnavailable(files?.content(root, file.id, range), signal));
    return content ? take(file, content) : sentence(part, 'is not there any more.');
  }

  for (const part of rows.flatMap(filesOf).reverse()) {
    if (found.has(part.url)) continue;
    const file = await readFile(part);
    if (file !== undefined) found.set(part.url, file);
  }
  return found;
}

/** Dependencies for fetching files by https address. */
interface Fetching {
  fetch: FetchFile;
  /** Addresses that the model's provider itself fetches, by media type. */
  supported: Record<string, RegExp[]>;
}

/** Returns true if the model's provider itself fetches files of this type from this address. */
export function isFetchedBy(
  supported: Record<string, RegExp[]>,
  url: string,
  mediaType: string,
): boolean {
  const kinds = ['*/*', '*', mediaType, `${mediaType.slice(0, mediaType.indexOf('/'))}/*`];
  return kinds.some((kind) => supported[kind]?.some((pattern) => pattern.test(url)) === true);
}

async function fetched(
  url: string,
  { fetch }: Fetching,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await fetch(url, signal);
  } catch {
    // The prompt says that the file is missing; the next step fetches it again.
    signal.throwIfAborted();
    return undefined;
  }
}

/** A store of the author's own may never answer. */
async function orUnavailable<T>(
  read: Promise<T> | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await orAborted(read, signal, 'the store of files did not answer in time');
  } catch (cause) {
    throw new RequestFault('files_unavailable', { cause });
  }
}

type Named = Pick<StoredFile, 'mediaType' | 'filename'>;

export function toContent({ mediaType, filename }: Named, content: Uint8Array): PromptFile {
  if (!isText(mediaType)) {
    const data = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    return {
      type: 'file',
      mediaType,
      filename,
      data: { type: 'data', data: data.toString('base64') },
    };
  }
  const text = new TextDecoder().decode(content.subarray(0, LIMITS.promptTextBytes));
  const isCut = content.byteLength > LIMITS.promptTextBytes;
  const end = isCut ? '\n[The rest of the file is left out.]' : '';
  return toText(`[File ${nameOf({ filename })}]\n${text}${end}`);
}

/** Creates the text that replaces a file. */
export function sentence(part: { filename?: string | undefined }, what: string): TextPart {
  return toText(`[The file ${nameOf(part)} ${what}]`);
}

/** Marks the text, since the user did not write it. */
function toText(text: string): TextPart {
  return { type: 'text', text, providerOptions: { helix: { file: true } } };
}

function nameOf({ filename }: { filename?: string | undefined }): string {
  return filename === undefined ? 'without a name' : JSON.stringify(filename);
}
