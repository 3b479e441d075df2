import { rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Files, StoredFile } from '../contract/files.js';
import { addFile, removeFile } from '../../session/files.js';
import { toStoredJson } from '../record/to-stored-json.js';
import { checkSessionId } from '../record/checked-ids.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { createReclaim } from './reclaim-files.js';
import { parseStored } from './stored-json.js';

type Context = Pick<
  RedisContext,
  'redis' | 'keys' | 'make' | 'now' | 'fileStore' | 'keepsFilesElsewhere'
>;

/** Files of conversations: noted in the record first, so that no bytes are stored beyond its limits. */
export function createFiles(context: Context): Files {
  const { redis, keys, make, fileStore, keepsFilesElsewhere } = context;
  const keyOf = (sessionId: string): string => keys.session(rootOf(sessionId)).files;
  const placeOf = (sessionId: string, fileId: string) => ({
    sessionId: rootOf(sessionId),
    fileId,
  });

  const read: Files['read'] = async (sessionId, fileId) => {
    const text = await callRedis(redis.hget(keyOf(sessionId), `file:${fileId}`));
    return text === null ? undefined : (parseStored(text, 'file') as StoredFile);
  };

  const remove: Files['remove'] = async (sessionId, fileId) => {
    // First: without a record, bytes whose removal failed could not be found again.
    await fileStore.remove(placeOf(sessionId, fileId));
    const { kind } = await make(rootOf(sessionId), removeFile, { id: fileId }, { isFreeing: true });
    return kind === 'removed';
  };

  return {
    add: async ({ sessionId, owner, tenant = '', file: about, content, limits }) => {
      checkSessionId(sessionId);
      const bytes = content.byteLength;
      const file: StoredFile = { ...about, bytes, owner, ...(tenant !== '' && { tenant }) };
      const { id } = file;
      const result = await make(sessionId, addFile, {
        ...{ id, bytes, owner, tenant, limits },
        file: toStoredJson(file),
        unclaimedMs: LIMITS.unclaimedFilesMs,
        isElsewhere: keepsFilesElsewhere,
      });
      if (result.kind !== 'added') return result;
      try {
        await fileStore.write(placeOf(sessionId, id), content);
      } catch (error) {
        await remove(sessionId, id).catch(() => undefined);
        throw error;
      }
      // The conversation may have been erased in the meantime.
      if ((await read(sessionId, id)) !== undefined) return { kind: 'added', file };
      await fileStore.remove(placeOf(sessionId, id));
      return { kind: 'not_found' };
    },
    read,
    list: async (sessionId) => {
      const fields = await callRedis(redis.hgetall(keyOf(sessionId)));
      const files = Object.entries(fields).flatMap(([name, text]) =>
        name.startsWith('file:') ? (parseStored(text, 'file') as StoredFile) : [],
      );
      return files.sort((a, b) => a.at - b.at);
    },
    content: (sessionId, fileId, range) => fileStore.read(placeOf(sessionId, fileId), range),
    remove,
    forget: (sessionId, fileId) => fileStore.remove(placeOf(sessionId, fileId)),
    ...(keepsFilesElsewhere && { reclaim: createReclaim(context) }),
  };
}
