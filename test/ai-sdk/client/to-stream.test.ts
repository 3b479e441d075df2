import { toStream } from '../../../ai-sdk/client/sse-events.js';

describe('a stream of parts', () => {
  it('is read on when nothing was made of what arrived', async () => {
    const stream = toStream(batches([], [1], [], [], [2, 3], []), new AbortController());
    const parts: number[] = [];
    for await (const part of stream) parts.push(part);
    expect(parts).toEqual([1, 2, 3]);
  });
});

async function* batches(...all: number[][]): AsyncGenerator<number[], void, undefined> {
  for (const batch of all) yield await Promise.resolve(batch);
}
