import type {
  LanguageModelV4StreamPart,
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
  LanguageModelV4Source,
} from '@ai-sdk/provider';
import type { StepRef } from '../../protocol/activities.js';
import { HelixError } from '../../protocol/errors.js';
import {
  formatFileUrl,
  rootOf,
  runNumberOf,
  sessionOfRun,
  toShownSessionId,
} from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Row, UnseenContent } from '../../protocol/rows.js';
import type { StoredFile } from '../../store/contract/files.js';
import type { ChunkOf } from '../../protocol/chunk.js';
import type { ActivityDeps } from '../deps.js';
import type { StepMiddleware } from './middleware.js';
import { FILES_AWAY, RequestFault } from './provider-failure.js';
import type { KeptFile } from './reply-types.js';

/** Stores files too large for the stream, and removes those of the step's earlier requests. */
export function madeFiles(deps: ActivityDeps): StepMiddleware {
  return ({ ref, attempt, claim, rows }) => {
    const files = createStepFiles(deps, ref, attempt.token);
    let isFirst = true;
    return async (request, next) => {
      if (!isFirst || attempt.number > 1) await files.clear();
      if (isFirst && claim.hasDroppedCalls === true) await files.clearDropped(rows);
      isFirst = false;
      request.keepFile = files.keep;
      return next(request);
    };
  };
}

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/** Stores files that are too large for a chunk with the conversation, whose route serves them. */
function createStepFiles(
  { store, uploads, logger }: Pick<ActivityDeps, 'store' | 'uploads' | 'logger'>,
  { sessionId, runId, step }: Pick<StepRef, 'sessionId' | 'runId' | 'step'>,
  token: number,
) {
  const root = rootOf(sessionId);
  const ofStep = `${runId} ${String(step)} `;
  const madeBy = `${ofStep}${String(token)}`;

  async function keep(content: Uint8Array, mediaType: string): Promise<KeptFile> {
    if (uploads === undefined || content.byteLength > LIMITS.largestFileBytes) return TOO_LARGE;
    const session = await store.sessions.read(root);
    if (session === undefined) return TOO_LARGE;
    const { owner, tenant } = session;
    const whose = { owner, ...(tenant !== undefined && { tenant }) };
    const { id } = await uploads.upload({ ...whose, sessionId: root, mediaType, madeBy, content });
    // If the conversation was erased meanwhile, the file would otherwise stay for a day.
    if ((await store.sessions.read(root)) === undefined) await uploads.removeFile(root, id);
    return { url: formatFileUrl({ sessionId: toShownSessionId(root), fileId: id }) };
  }

  return {
    /** Returns undefined for parts that go into the stream unchanged. @throws RequestFault */
    keep: async (part: LanguageModelV4StreamPart): Promise<KeptFile | undefined> => {
      if (part.type !== 'file' && part.type !== 'reasoning-file') return undefined;
      if (part.data.type !== 'data') return undefined;
      const { data } = part.data;
      // Base64 has four characters for three bytes.
      const length = typeof data === 'string' ? data.length : Math.ceil(data.byteLength / 3) * 4;
      if (length + part.mediaType.length + 256 <= MAX_ATTACHMENT_BYTES) return undefined;
      const content = typeof data === 'string' ? Buffer.from(data, 'base64') : data;
      const mediaType = MEDIA_TYPE.test(part.mediaType) ? part.mediaType : UNKNOWN_TYPE;
      try {
        return await keep(content, mediaType);
      } catch (cause) {
        if (!HelixError.isInstance(cause) || cause.code === 'unavailable') {
          throw new RequestFault(FILES_AWAY, { cause });
        }
        logger.warn({ err: cause, runId, step }, 'a file of the model is not kept');
        return { error: cause.message, code: cause.code };
      }
    },
    /**
     * Removes files of tries whose reply was discarded. A replaced attempt may still run, so it
     * spares its successor's files.
     */
    clear: (): Promise<void> => remove(({ madeBy }) => isUpTo(madeBy, ofStep, token)),
    /** Removes files of earlier runs whose replies a rewind dropped. */
    clearDropped: async (rows: readonly Row[]): Promise<void> => {
      // A rewind begins a run, so only its first step looks for dropped files.
      if (rows.some((row) => row.role === 'assistant' && row.runId === runId)) return;
      // Any mention in a row keeps a file: a user may resend a file that a model made.
      const named = JSON.stringify(rows);
      await remove(({ id, madeBy = '' }) => {
        const [madeIn = ''] = madeBy.split(' ');
        if (sessionOfRun(madeIn) !== root || named.includes(id)) return false;
        return runNumberOf(madeIn) < runNumberOf(runId);
      });
    },
  };

  async function remove(isGone: (file: StoredFile) => boolean): Promise<void> {
    if (uploads === undefined) return;
    try {
      const files = await store.files.list(root);
      for (const file of files) if (isGone(file)) await uploads.removeFile(root, file.id);
    } catch (error) {
      // The erasure of the conversation removes the remaining files.
      logger.warn({ err: error, runId, step }, 'files of a discarded reply are left');
    }
  }
}

function isUpTo(madeBy: string | undefined, ofStep: string, token: number): boolean {
  return madeBy?.startsWith(ofStep) === true && Number(madeBy.slice(ofStep.length)) <= token;
}

const UNKNOWN_TYPE = 'application/octet-stream';

export const TOO_LARGE = {
  error: 'Something that the model made is too large to be shown.',
  code: 'chunk_too_large',
} as const satisfies KeptFile;

type Base = 'agentId' | 'agentType' | 'step' | 'timestamp';

/** Sources that a model names, and files that it makes. */
export type Attachment =
  | Omit<ChunkOf<'source_url'>, Base>
  | Omit<ChunkOf<'source_document'>, Base>
  | Omit<ChunkOf<'file'>, Base>;

/** Leaves room for the fields that all chunks have. */
export const MAX_ATTACHMENT_BYTES = LIMITS.chunkBytes - 2 * 1024;

type ModelFile = LanguageModelV4File | LanguageModelV4ReasoningFile;
export type ShownPart = LanguageModelV4Source | LanguageModelV4File;

/** Converts a file of the model's reasoning, which pages do not show. */
export function toUnseenFile(part: LanguageModelV4ReasoningFile, keptAt?: string): UnseenContent {
  return { type: part.type, url: keptAt ?? toUrl(part), mediaType: part.mediaType };
}

/** @param keptAt address of the stored file */
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

/** Returns a data URL, or the provider's URL if it keeps the file. */
function toUrl({ data, mediaType }: ModelFile): string {
  if (data.type === 'url') return data.url.toString();
  const bytes = data.data;
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64');
  return `data:${mediaType};base64,${text}`;
}
