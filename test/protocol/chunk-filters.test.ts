import fc from 'fast-check';
import type { StreamChunk } from '../../protocol/chunk.js';
import {
  collectAll,
  collectText,
  excludeTypes,
  filterByAgentId,
  filterByAgentType,
  filterByType,
  filterWith,
  skip,
  take,
} from '../../protocol/combine-streams.js';
import {
  isErrorChunk,
  isTextDeltaChunk,
  type TextDeltaChunk,
} from '../../protocol/chunk-guards.js';
import { anyChunk, CHUNK_TYPE_NAMES } from './any-chunk.js';
import { LiveSource, readOne, settle, Source, text } from './streams.js';

const chunks = fc.array(anyChunk, { maxLength: 20 });

it('filters keep what Array.filter keeps, in order', async () => {
  const wanted = fc.uniqueArray(fc.constantFrom(...CHUNK_TYPE_NAMES));
  await fc.assert(
    fc.asyncProperty(chunks, wanted, async (list, types) => {
      const has = ({ type }: StreamChunk): boolean => types.includes(type);
      const { agentId = '', agentType = '' } = list[0] ?? {};
      expect(await collectAll(filterByType(new Source(list), types))).toEqual(list.filter(has));
      expect(await collectAll(excludeTypes(new Source(list), types))).toEqual(
        list.filter((chunk) => !has(chunk)),
      );
      expect(await collectAll(filterByAgentId(new Source(list), agentId))).toEqual(
        list.filter((chunk) => chunk.agentId === agentId),
      );
      expect(await collectAll(filterByAgentType(new Source(list), agentType))).toEqual(
        list.filter((chunk) => chunk.agentType === agentType),
      );
    }),
  );
});

it('filters narrow the type of the chunks that they pass', async () => {
  const source = (): Source<StreamChunk> => new Source([text('a'), text('b')]);
  const byType: TextDeltaChunk[] = await collectAll(filterByType(source(), ['text_delta']));
  const byGuard: TextDeltaChunk[] = await collectAll(filterWith(source(), isTextDeltaChunk));
  const rest = await collectAll(excludeTypes(source(), ['error', 'thinking']));
  // @ts-expect-error excluded types are gone
  rest.filter((chunk) => chunk.type === 'error');
  expect([byType, byGuard, rest].map((list) => list.length)).toEqual([2, 2, 2]);
  expect(rest.filter(isErrorChunk)).toEqual([]);
});

it('filters read no further than they are read', async () => {
  const source = new Source([text('a'), text('b'), text('c')]);
  const stream = filterByAgentId(source, 's1');
  expect(source.reads).toBe(0);
  await stream.next();
  await settle();
  expect(source.reads).toBe(1);
});

it('filters close the source when the reader leaves', async () => {
  const source = new Source([text('a'), text('b')]);
  await readOne(
    skip(
      filterWith(source, () => true),
      1,
    ),
  );
  expect(source.closed).toBe(1);
});

it('filters do not close a source that has already ended', async () => {
  const source = new Source([text('a')]);
  await collectAll(filterWith(source, () => true));
  expect(source.closed).toBe(0);
});

it('filters close the source of a reader that leaves while it waits', async () => {
  const source = new LiveSource<StreamChunk>();
  const stream = take(skip(filterByType(source, ['text_delta']), 1), 5);
  const waiting = stream.next();
  await settle();
  await stream.return?.();
  expect(source.closed).toBe(1);
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it('filters rethrow the error of the source without closing it', async () => {
  const source = new Source([text('a')], new Error('broken'));
  const stream = filterWith(source, () => true);
  await stream.next();
  await expect(stream.next()).rejects.toThrow('broken');
  expect(source.closed).toBe(0);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it('filters close the source when the predicate throws', async () => {
  const source = new Source([text('a'), text('b')]);
  const stream = filterWith(source, () => {
    throw new Error('no idea');
  });
  await expect(collectAll(stream)).rejects.toThrow('no idea');
  expect(source.closed).toBe(1);
});

it('filters keep the order of concurrent reads', async () => {
  const source = new Source([text('a'), text('x', 's2'), text('b'), text('c')]);
  const stream = filterByAgentId(source, 's1');
  const results = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
  expect(results.map(({ value }) => (value as TextDeltaChunk | undefined)?.delta)).toEqual([
    'a',
    'b',
    'c',
    undefined,
  ]);
});

it('take and skip cut a stream as slice cuts an array', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), fc.nat({ max: 30 }), async (list, count) => {
      const taken = await collectAll(take(new Source(list), count));
      const skipped = await collectAll(skip(new Source(list), count));
      expect(taken).toEqual(list.slice(0, count));
      expect(skipped).toEqual(list.slice(count));
      expect([...taken, ...skipped]).toEqual(list);
    }),
  );
});

it('take reads as many items as it yields, then closes the source', async () => {
  const source = new Source([1, 2, 3]);
  expect(await collectAll(take(source, 2))).toEqual([1, 2]);
  expect(source).toMatchObject({ reads: 2, closed: 1 });
});

it('take of zero items reads nothing', async () => {
  const source = new Source([1]);
  expect(await collectAll(take(source, 0))).toEqual([]);
  expect(source).toMatchObject({ reads: 0, closed: 1 });
});

it.each([-1, NaN, 1.5, Infinity, '2' as unknown as number])(
  'take and skip refuse a count of %p',
  (count) => {
    for (const cut of [take, skip]) {
      expect(() => cut(new Source([1]), count)).toThrow(
        expect.objectContaining({ code: 'validation_error' }),
      );
    }
  },
);

describe('collectText', () => {
  const stream = (): Source<StreamChunk> =>
    new Source([
      text('Hel'),
      { ...text('x'), type: 'thinking', content: 'hm', isComplete: true },
      text('child', 's1.1-a'),
      text('lo'),
    ]);

  it('collectText joins the text of all agents, or of one', async () => {
    expect(await collectText(stream())).toBe('Helchildlo');
    expect(await collectText(stream(), { agentId: 's1' })).toBe('Hello');
    expect(await collectText(new Source([]))).toBe('');
  });
});
