import { HelixError } from '../../protocol/errors.js';
import {
  formatFileUrl,
  rootOf,
  runNumberOf,
  sessionOfRun,
  toShownSessionId,
} from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StoredFile } from '../../store/contract/files.js';
import type { ActivityDeps } from '../deps.js';
import type { StepMiddleware } from './middleware.js';
import { RequestFault } from './provider-failure.js';
import { MAX_ATTACHMENT_BYTES, TOO_LARGE, type KeptFile, type MadeFile } from './step-reply.js';

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/**
 * Stores files that are too large for a chunk with the conversation, whose route serves them, and
 * removes the files of replies that were discarded.
 */
export function madeFiles({ store, uploads }: ActivityDeps): StepMiddleware {
  return ({ ref: { sessionId, runId, step }, attempt, claim, rows, warn }) => {
    const root = rootOf(sessionId);
    const ofStep = `${runId} ${String(step)} `;
    const madeBy = `${ofStep}${String(attempt.token)}`;
    let isFirst = true;

    async function upload(content: Uint8Array, mediaType: string): Promise<KeptFile> {
      if (uploads === undefined || content.byteLength > LIMITS.largestFileBytes) return TOO_LARGE;
      const session = await store.sessions.read(root);
      if (session === undefined) return TOO_LARGE;
      const { owner, tenant } = session;
      const whose = { owner, ...(tenant !== undefined && { tenant }) };
      const file = { ...whose, sessionId: root, mediaType, madeBy, content };
      const { id } = await uploads.upload(file);
      // If the conversation was erased meanwhile, the file would otherwise stay for a day.
      if ((await store.sessions.read(root)) === undefined) await uploads.removeFile(root, id);
      return { url: formatFileUrl({ sessionId: toShownSessionId(root), fileId: id }) };
    }

    /** Returns undefined for parts that go into the stream unchanged. @throws RequestFault */
    async function keep({ data: given, mediaType }: MadeFile): Promise<KeptFile | undefined> {
      if (given.type !== 'data') return undefined;
      const { data } = given;
      // Base64 has four characters for three bytes.
      const length = typeof data === 'string' ? data.length : Math.ceil(data.byteLength / 3) * 4;
      if (length + mediaType.length + 256 <= MAX_ATTACHMENT_BYTES) return undefined;
      const content = typeof data === 'string' ? Buffer.from(data, 'base64') : data;
      const isKnown = MEDIA_TYPE.test(mediaType);
      try {
        return await upload(content, isKnown ? mediaType : 'application/octet-stream');
      } catch (cause) {
        if (!HelixError.isInstance(cause) || cause.code === 'unavailable') {
          throw new RequestFault('files_unavailable', { cause });
        }
        warn('a file of the model is not kept', cause);
        return { error: cause.message, code: cause.code };
      }
    }

    async function remove(isGone: (file: StoredFile) => boolean): Promise<void> {
      if (uploads === undefined) return;
      try {
        const files = await store.files.list(root);
        for (const file of files) if (isGone(file)) await uploads.removeFile(root, file.id);
      } catch (error) {
        // The erasure of the conversation removes the remaining files.
        warn('files of a discarded reply are left', error);
      }
    }

    /** A replaced attempt may still run, so it spares its successor's files. */
    function isOfStep({ madeBy = '' }: StoredFile): boolean {
      return madeBy.startsWith(ofStep) && Number(madeBy.slice(ofStep.length)) <= attempt.token;
    }

    /** Removes files of earlier runs whose replies a rewind dropped. */
    async function clearDropped(): Promise<void> {
      // A rewind begins a run, so only its first step looks for dropped files.
      if (rows.some((row) => row.role === 'assistant' && row.runId === runId)) return;
      // Any mention in a row keeps a file: a user may resend a file that a model made.
      const named = JSON.stringify(rows);
      await remove(({ id, madeBy = '' }) => {
        const [madeIn = ''] = madeBy.split(' ');
        if (sessionOfRun(madeIn) !== root || named.includes(id)) return false;
        return runNumberOf(madeIn) < runNumberOf(runId);
      });
    }

    return async (request, next) => {
      if (!isFirst || attempt.number > 1) await remove(isOfStep);
      if (isFirst && claim.hasDroppedCalls === true) await clearDropped();
      isFirst = false;
      request.keepFile = keep;
      return next(request);
    };
  };
}
