import type { FilePlace, FileStore } from '../contract/files.js';

/** The bytes of files in this process's memory, until they are removed. */
export function createMemoryFileStore(): FileStore {
  const contents = new Map<string, Uint8Array>();
  const nameOf = ({ sessionId, fileId }: FilePlace): string => `${sessionId}/${fileId}`;
  return {
    write: async (place, content) => {
      contents.set(nameOf(place), Uint8Array.from(content));
    },
    read: async (place, { from, to }) => contents.get(nameOf(place))?.slice(from, to),
    remove: async (place) => {
      contents.delete(nameOf(place));
    },
  };
}
