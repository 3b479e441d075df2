/**
 * Many viewers may join at once, as after a deploy; for this long they share what one of them has
 * read. A longer time would give more of them an attempt that was withdrawn in the meantime, and each of
 * those is cut.
 */
const SHARED_MS = 100;

/** Reads that viewers share, by what is read and where. */
export function createSharedReads<Value>(): (
  reader: object,
  key: string,
  read: () => Promise<Value>,
) => Promise<Value> {
  const readsOf = new WeakMap<object, Map<string, Promise<Value>>>();
  return (reader, key, read) => {
    const reads = readsOf.get(reader) ?? new Map<string, Promise<Value>>();
    readsOf.set(reader, reads);
    const known = reads.get(key);
    if (known !== undefined) return known;
    const value = read();
    reads.set(key, value);
    const forget = (): boolean => reads.delete(key);
    // A reader that left ignores failures of the reads that it had requested.
    value.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return value;
  };
}
