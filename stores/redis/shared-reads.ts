import type { LogPage, ReadPage } from './log-pages.js';

/**
 * Lets followers who want the same page at the same moment share one read. A read that was sent
 * before somebody asked may lack what is new since; so it counts for them only if it is full, and
 * else they share the next one.
 */
export function shareReads(readPage: ReadPage): ReadPage {
  const underWay = new Map<string, Promise<LogPage>>();

  function start(key: string, streamId: string, anchor: number): Promise<LogPage> {
    const read = readPage(streamId, anchor);
    underWay.set(key, read);
    const end = (): void => {
      if (underWay.get(key) === read) underWay.delete(key);
    };
    read.then(end, end);
    return read;
  }

  return async (streamId, anchor) => {
    const key = `${streamId} ${String(anchor)}`;
    const earlier = underWay.get(key);
    if (earlier === undefined) return start(key, streamId, anchor);
    const page = await earlier;
    if (page.isFull) return page;
    return underWay.get(key) ?? start(key, streamId, anchor);
  };
}
