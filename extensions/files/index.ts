import {
  findSession,
  isOwner,
  notFound,
  toReplyHeaders,
  type Caller,
  type FoundSession,
} from '../../ai-sdk/index.js';
import { defineRoute, SESSION, type Route, type RouteDeps } from '../../api/extension.js';
import type { Extension } from '../../extension.js';
import { HelixError } from '../../protocol/errors.js';
import { formatFileUrl, isFileId } from '../../protocol/ids.js';
import { UploadedFile } from '../../protocol/replies.js';
import { FilePath, FileQuery, SessionPath } from '../../protocol/http.js';
import type { Files, StoredFile } from '../../store/contract/files.js';
import { readUpload } from './read-upload.js';
import { serveFile } from './serve-file.js';

const one = { params: FilePath, path: '/api/chat/:sessionId/files/:fileId' } as const;

/** Lets people upload files to conversations and download those that agents make. */
export function files(): Extension {
  return { name: 'files', routes: FILE_ROUTES };
}

/**
 * Routes for the files of a conversation, which messages name by reference. A page may upload a file before
 * the first message; then it belongs to the uploader.
 */
const FILE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/chat/:sessionId/files',
    id: 'uploadFile',
    audits: 'none',
    summary: 'Store a file that a message of this conversation is going to name',
    params: SessionPath,
    query: FileQuery,
    upload: true,
    replies: {
      201: {
        description: 'The file, as a part of a user message names it.',
        content: { json: UploadedFile },
        headers: SESSION,
      },
    },
    refusals: ['not_found', 'quota_exceeded'],
    handle: async ({ deps, request, response, params: { sessionId }, query, caller }) => {
      const { uploads } = deps.executor;
      const file = await readUpload(request, query.filename, deps.files);
      request.body = undefined;
      const { storedId, record } = await locate(deps, sessionId, caller);
      const { userId: owner, tenantId: tenant } = caller;
      const stored = await uploads.upload({
        ...file,
        sessionId: storedId,
        owner,
        ...(tenant !== undefined && { tenant }),
      });
      response.set(toReplyHeaders(sessionId, record)).status(201).json(toReply(sessionId, stored));
    },
  }),
  defineRoute({
    ...one,
    method: 'get',
    id: 'getFile',
    audits: 'none',
    summary: 'Get a file of the conversation, whole or a range of it',
    replies: {
      200: { description: 'The file.', content: { file: 'Its bytes.' }, headers: SESSION },
      206: { description: 'The range.', content: { file: 'Its bytes.' }, headers: SESSION },
    },
    refusals: ['not_found'],
    handle: async ({ deps, request, response, params: { sessionId, fileId }, caller }) => {
      const files = deps.stateStore.files;
      const { storedId, record } = await locate(deps, sessionId, caller);
      const file = await readOwn(files, { storedId, fileId }, caller);
      response.set(toReplyHeaders(sessionId, record));
      await serveFile(request, response, file, (range) =>
        deps.countRead(async (meter) => {
          const piece = await files.content(storedId, fileId, range);
          await meter?.take(piece?.length ?? 0);
          return piece;
        }),
      );
    },
  }),
  defineRoute({
    ...one,
    method: 'delete',
    id: 'deleteFile',
    audits: 'act',
    entry: 'edit',
    summary: 'Remove a file; messages that name it keep its name',
    replies: { 204: { description: 'The file is removed.', headers: SESSION } },
    refusals: ['not_found'],
    about: async ({ deps, params: { sessionId, fileId }, caller }) => {
      const { storedId, record } = await locate(deps, sessionId, caller);
      const { owner } = await readOwn(deps.stateStore.files, { storedId, fileId }, caller);
      return { sessionId: storedId, owner, record, detail: { file: fileId } };
    },
    handle: async ({ deps, response, params: { sessionId, fileId }, about }) => {
      const { sessionId: storedId, record } = about;
      await deps.executor.uploads.removeFile(storedId, fileId);
      response.set(toReplyHeaders(sessionId, record)).status(204).end();
    },
  }),
];

/** Finds the conversation of a file. @throws HelixError `not_found` for another owner's */
async function locate(deps: RouteDeps, sessionId: string, caller: Caller): Promise<FoundSession> {
  const found = await findSession(deps.stateStore, sessionId, caller);
  if (found.record !== undefined && !isOwner(found.record, caller)) throw notFound();
  return found;
}

/** @throws HelixError `not_found` for unknown files and for those of others */
async function readOwn(
  files: Files,
  { storedId, fileId }: { storedId: string; fileId: string },
  caller: Caller,
): Promise<StoredFile> {
  const file = isFileId(fileId) ? await files.read(storedId, fileId) : undefined;
  if (file !== undefined && isOwner(file, caller)) return file;
  throw new HelixError('not_found', 'There is no such file.');
}

function toReply(sessionId: string, { id, mediaType, filename, bytes }: StoredFile): UploadedFile {
  const url = formatFileUrl({ sessionId, fileId: id });
  return { type: 'file', url, mediaType, filename, id, bytes };
}
