import fc from 'fast-check';
import { collectAll, take, combineStreams } from '../../protocol/combine-streams.js';
import { LiveSource, readOne, settle, Source } from './streams.js';

it('combineStreams yields all chunks once, those of each stream in its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 12 }), { maxLength: 6 }),
      fc.scheduler(),
      async (lengths, scheduler) => {
        const lists = lengths.map((length, source) =>
          Array.from({ length }, (_, at) => ({ source, at })),
        );
        async function* paced<T>(list: readonly T[]): AsyncGenerator<T> {
          for (const item of list) yield await scheduler.schedule(Promise.resolve(item));
        }
        const merged = await scheduler.waitFor(collectAll(combineStreams(lists.map(paced))));
        expect(merged).toHaveLength(lists.flat().length);
        for (const [source, list] of lists.entries()) {
          expect(merged.filter((item) => item.source === source)).toEqual(list);
        }
      },
    ),
  );
});

it('combineStreams ends at once when there is nothing to merge', async () => {
  expect(await collectAll(combineStreams([]))).toEqual([]);
  expect(await collectAll(combineStreams([new Source([]), new Source([])]))).toEqual([]);
});

it('combineStreams yields what arrives while another stream is silent', async () => {
  const [silent, busy] = [new LiveSource<string>(), new LiveSource<string>()];
  const stream = combineStreams([silent, busy]);
  for (const item of ['a', 'b', 'c']) {
    busy.push(item);
    expect(await stream.next()).toEqual({ done: false, value: item });
  }
  busy.end();
  const last = stream.next();
  silent.push('late');
  expect(await last).toEqual({ done: false, value: 'late' });
  silent.end();
  expect((await stream.next()).done).toBe(true);
});

it('combineStreams starves no stream: streams that are always ready take turns', async () => {
  async function* always(name: string): AsyncGenerator<string> {
    for (;;) yield await Promise.resolve(name);
  }
  const merged = await collectAll(take(combineStreams(['a', 'b', 'c'].map(always)), 30));
  for (const name of ['a', 'b', 'c']) {
    expect(merged.filter((item) => item === name)).toHaveLength(10);
  }
});

it('combineStreams holds back at most one chunk of each stream', async () => {
  const sources = [new Source([1, 2, 3, 4]), new Source([1, 2, 3, 4])];
  const stream = combineStreams(sources);
  expect(sources.map(({ reads }) => reads)).toEqual([0, 0]);
  await stream.next();
  await settle();
  expect(sources.map(({ reads }) => reads)).toEqual([1, 1]);
});

it('combineStreams closes all streams when the reader leaves', async () => {
  const sources = [new Source([1, 2]), new Source([1, 2]), new LiveSource<number>()];
  await readOne(combineStreams(sources));
  expect(sources.map(({ closed }) => closed)).toEqual([1, 1, 1]);
});

it('combineStreams lets a reader leave that waits for silent streams', async () => {
  const sources = [new LiveSource<number>(), new LiveSource<number>()];
  const stream = combineStreams(sources);
  const waiting = stream.next();
  await settle();
  await stream.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(sources.map(({ closed }) => closed)).toEqual([1, 1]);
});

it('combineStreams does not wait for generators that cannot be closed while they are read', async () => {
  async function* stuck(): AsyncGenerator<number> {
    await new Promise(() => undefined);
    yield 1;
  }
  expect(await readOne(combineStreams([stuck(), new Source([7])]))).toBe(7);

  const stream = combineStreams([stuck(), stuck()]);
  const waiting = stream.next();
  await settle();
  await stream.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
});

it('combineStreams gives an error to the reader and closes the others', async () => {
  const others = [new LiveSource<number>(), new Source([1, 2, 3])];
  const broken = new Source<number>([], new Error('broken'));
  const stream = combineStreams([...others, broken]);
  await expect(collectAll(stream)).rejects.toThrow('broken');
  expect(others.map(({ closed }) => closed)).toEqual([1, 1]);
  expect(broken.closed).toBe(0);
  expect((await stream.next()).done).toBe(true);
});

it('combineStreams keeps what arrived before an error', async () => {
  const seen: number[] = [];
  const stream = combineStreams([new Source([1, 2], new Error('broken'))]);
  await expect(
    (async () => {
      for await (const item of stream) seen.push(item);
    })(),
  ).rejects.toThrow('broken');
  expect(seen).toEqual([1, 2]);
});

it('combineStreams reports a stream that fails to close', async () => {
  const stubborn = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false as const, value: 1 }),
      return: () => Promise.reject(new Error('will not close')),
    }),
  };
  const stream = combineStreams([stubborn]);
  await stream.next();
  await expect(stream.return?.()).rejects.toThrow('will not close');
});
