import { type LogPage, shareReads } from '../../../store/redis/tail/pages.js';

/** Returns reads that end when the test says so. */
function heldReads() {
  const reads: { end: (isFull: boolean) => void; fail: () => void }[] = [];
  const read = shareReads(
    (_, anchor) =>
      new Promise<LogPage>((resolve, reject) => {
        const sequence = reads.length;
        reads.push({
          end: (isFull) => {
            resolve({ entries: [], isFull, sequence, server: String(anchor) });
          },
          fail: () => {
            reject(new Error('away'));
          },
        });
      }),
  );
  return { reads, read };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('followers who want the same page', () => {
  it('share a read that is full', async () => {
    const { reads, read } = heldReads();
    const pages = [read('s', 7), read('s', 7), read('s', 7)];
    reads[0]?.end(true);
    expect((await Promise.all(pages)).map(({ sequence }) => sequence)).toEqual([0, 0, 0]);
    expect(reads).toHaveLength(1);
  });

  it('share the next one where the first may lack what is new since it was sent', async () => {
    const { reads, read } = heldReads();
    const pages = [read('s', 7), read('s', 7), read('s', 7)];
    reads[0]?.end(false);
    await settled();
    reads[1]?.end(false);
    expect((await Promise.all(pages)).map(({ sequence }) => sequence)).toEqual([0, 1, 1]);
    expect(reads).toHaveLength(2);
  });

  it('share neither across positions and streams nor after the end', async () => {
    const { reads, read } = heldReads();
    const pages = [read('s', 7), read('s', 8), read('t', 7)];
    for (const { end } of reads) end(true);
    await Promise.all(pages);
    expect(reads).toHaveLength(3);
    const later = read('s', 7);
    reads[3]?.end(true);
    expect(await later).toMatchObject({ sequence: 3 });
  });

  it('followers of one page read it again after a failure', async () => {
    const { reads, read } = heldReads();
    const first = read('s', 7);
    reads[0]?.fail();
    await expect(first).rejects.toThrow('away');
    const second = read('s', 7);
    reads[1]?.end(false);
    expect(await second).toMatchObject({ sequence: 1 });
  });
});
