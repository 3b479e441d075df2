import { randomUUID } from 'node:crypto';
import type { FilePlace, FileStore, StoredFile } from '../../store/contract/files.js';
import type { Store } from '../../store/contract/store.js';

/** A file store like a bucket, which can be unavailable. */
export interface TestBucket extends FileStore {
  names: () => string[];
  isAway: boolean;
}

export function createTestBucket(): TestBucket {
  const contents = new Map<string, Uint8Array>();
  const nameOf = ({ sessionId, fileId }: FilePlace): string => `${sessionId}/${fileId}`;
  const orAway = (): typeof contents => {
    if (bucket.isAway) throw new Error('the bucket is away');
    return contents;
  };
  const bucket: TestBucket = {
    isAway: false,
    names: () => [...contents.keys()],
    write: async (place, content) => void orAway().set(nameOf(place), content),
    read: async (place, { from, to }) => orAway().get(nameOf(place))?.slice(from, to),
    remove: async (place) => void orAway().delete(nameOf(place)),
  };
  return bucket;
}

export async function addFile(
  { files }: Pick<Store, 'files'>,
  sessionId: string,
  owner: string,
): Promise<StoredFile> {
  const file = { id: randomUUID(), mediaType: 'image/png', sha256: 'x', at: Date.now() };
  const limits = { files: 10, bytes: 1_000 };
  const content = Buffer.from('bytes');
  const added = await files.add({ sessionId, owner, tenant: '', file, content, limits });
  if (added.kind !== 'added') throw new Error(`add replied ${added.kind}`);
  return added.file;
}
