import { HelixError } from '../../protocol/errors.js';
import { rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Files, FileStore, StoredFile } from '../contract/files.js';
import type { SessionOwner } from '../contract/waiting.js';
import { addFile, removeFile } from '../../session/files.js';
import { toStoredJson, parseStored } from '../record/stored-json.js';
import { checkSessionId } from '../record/checked-ids.js';
import type { RedisContext } from './context.js';
import { toOwner } from './keys.js';

/** Creates the files of conversations. A file is noted in the record first, so that no bytes exceed its limits. */
export function createFiles(context: RedisContext): Files {
  const { redis, keys, change, now, keepsFilesElsewhere } = context;
  const fileStore = orUnavailable(context.fileStore);
  const keyOf = (sessionId: string): string => keys.session(rootOf(sessionId)).files;
  const placeOf = (id: string, fileId: string) => ({ sessionId: rootOf(id), fileId });

  const read: Files['read'] = async (sessionId, fileId) => {
    const text = await redis.hget(keyOf(sessionId), `file:${fileId}`);
    return text === null ? undefined : (parseStored(text, 'file') as StoredFile);
  };

  const list: Files['list'] = async (sessionId) => {
    const fields = await redis.hgetall(keyOf(sessionId));
    const files = Object.entries(fields).flatMap(([name, text]) =>
      name.startsWith('file:') ? (parseStored(text, 'file') as StoredFile) : [],
    );
    return files.sort((a, b) => a.at - b.at);
  };

  /** Lists the conversation before a file is added, so that an erasure of its owner finds it. */
  async function note(sessionId: string, owner: SessionOwner): Promise<void> {
    const { unclaimed } = keys.owner(owner);
    const until = now() + LIMITS.unclaimedFilesMs;
    await redis.zadd(unclaimed, until, rootOf(sessionId));
    // Expired files stay listed until their owner's figures are repaired.
    await redis.pexpire(unclaimed, 2 * LIMITS.unclaimedFilesMs);
  }

  async function drop(sessionId: string, id: string): Promise<boolean> {
    const { kind } = await change(rootOf(sessionId), removeFile, { id }, { isFreeing: true });
    return kind === 'removed';
  }

  const remove: Files['remove'] = async (sessionId, fileId) => {
    // Bytes go first: without a record, bytes whose removal failed could not be found again.
    await fileStore.remove(placeOf(sessionId, fileId));
    return drop(sessionId, fileId);
  };

  return {
    add: async ({ sessionId, owner, tenant = '', file: about, content, limits }) => {
      checkSessionId(sessionId);
      const bytes = content.byteLength;
      const file: StoredFile = { ...about, bytes, ...toOwner(owner, tenant) };
      const { id } = file;
      await note(sessionId, { owner, tenant });
      const result = await change(sessionId, addFile, {
        id,
        bytes,
        owner,
        tenant,
        limits,
        file: toStoredJson(file),
        unclaimedMs: LIMITS.unclaimedFilesMs,
        isElsewhere: keepsFilesElsewhere,
      });
      if (result.kind !== 'added') return result;
      try {
        await fileStore.write(placeOf(sessionId, id), content);
      } catch (error) {
        await remove(sessionId, id).catch(() => undefined);
        // Bytes elsewhere have a note, by which the sweep finds them without a record.
        if (keepsFilesElsewhere) await drop(sessionId, id).catch(() => undefined);
        throw error;
      }
      // The conversation may have been erased in the meantime.
      if ((await read(sessionId, id)) !== undefined) return { kind: 'added', file };
      await fileStore.remove(placeOf(sessionId, id));
      return { kind: 'not_found' };
    },
    read,
    list,
    eraseUnclaimed: async (who) => {
      const { unclaimed } = keys.owner(who);
      const noted = await redis.zrangebyscore(unclaimed, '-inf', '+inf');
      for (const sessionId of noted) {
        const isBegun = (await redis.hget(keys.session(sessionId).root, 'record')) !== null;
        for (const { id, owner, tenant = '' } of isBegun ? [] : await list(sessionId)) {
          if (owner === who.owner && tenant === (who.tenant ?? '')) await remove(sessionId, id);
        }
        await redis.zrem(unclaimed, sessionId);
      }
      return noted;
    },
    content: (sessionId, fileId, range) => fileStore.read(placeOf(sessionId, fileId), range),
    remove,
    forget: (sessionId, fileId) => fileStore.remove(placeOf(sessionId, fileId)),
    ...(keepsFilesElsewhere && { reclaim: createReclaim(context) }),
  };
}

/** Turns any error of a store of the author's own into one after which callers repeat their request. */
function orUnavailable(store: FileStore): FileStore {
  const tried = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      if (HelixError.isInstance(cause)) throw cause;
      const text = 'The store of files cannot be used right now.';
      throw new HelixError('unavailable', text, { cause });
    }
  };
  return {
    write: (place, content) => tried(() => store.write(place, content)),
    read: (place, range) => tried(() => store.read(place, range)),
    remove: (place) => tried(() => store.remove(place)),
  };
}

/** A file may still be being written for this long after it was noted. */
const WRITTEN_MS = 10 * 60_000;
/** Clocks of Redis and of this process differ. */
const AFTER_MS = 1_000;

/**
 * Removes bytes from a separate store whose files are no longer in the record: they expired with it, or were displaced.
 * The change that adds a file notes it, and the note is removed last.
 */
function createReclaim({ redis, keys, fileStore, now }: RedisContext) {
  return async (id: string): Promise<number | undefined> => {
    const sessionId = rootOf(id);
    const noted = keys.elsewhere(sessionId);
    // Notes are read before files, so a file added in between has no note here and is kept.
    const kept = Object.entries(await redis.hgetall(noted));
    if (kept.length === 0) return undefined;
    const { files } = keys.session(sessionId);
    const names = new Set(await redis.hkeys(files));
    let againMs: number | undefined;
    for (const [fileId, at] of kept) {
      if (names.has(`file:${fileId}`)) continue;
      await fileStore.remove({ sessionId, fileId });
      const leftMs = Number(at) + WRITTEN_MS - now();
      if (leftMs <= 0) await redis.hdel(noted, fileId);
      else againMs = Math.max(leftMs, againMs ?? 0);
    }
    const left = names.size === 0 ? -1 : await redis.pttl(files);
    if (left < 0) return againMs;
    return Math.min(left + AFTER_MS, againMs ?? Infinity);
  };
}
