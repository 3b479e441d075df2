import fc from 'fast-check';
import { createChunkWriter, splitOversized, takeBatch } from '../../activities/chunk-writer.js';
import type { StreamChunk, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AppendResult } from '../../store/contract/log.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

const base = { agentId: 's', agentType: 'a', timestamp: 1, step: 1 };
const text = (delta: string): StreamChunk => ({ type: 'text_delta', ...base, delta });

const Chunk: fc.Arbitrary<StreamChunk> = fc.oneof(
  fc.string({ maxLength: 20 }).map(text),
  fc.integer({ min: 1, max: 30_000 }).map((size) => text('x'.repeat(size))),
  fc
    .record({ content: fc.string(), isComplete: fc.boolean() })
    .map((fields): StreamChunk => ({ type: 'thinking', ...base, ...fields })),
  fc
    .record({ toolCallId: fc.constantFrom('c1', 'c2'), delta: fc.string() })
    .map((fields): StreamChunk => ({ type: 'tool_arg_stream_delta', ...base, ...fields })),
  fc.constantFrom('c1', 'c2').map((toolCallId): StreamChunk => ({
    type: 'tool_arg_stream_start',
    ...base,
    toolCallId,
    toolName: 't',
  })),
);

/** What chunks tell, however they are cut: runs of the same block joined. */
function describeChunks(chunks: readonly StreamChunk[]): string[] {
  const parts: [string, string][] = [];
  for (const chunk of chunks) {
    const [key, content] =
      chunk.type === 'text_delta'
        ? ['text', chunk.delta]
        : chunk.type === 'tool_arg_stream_delta'
          ? [`args ${chunk.toolCallId}`, chunk.delta]
          : chunk.type === 'thinking'
            ? ['thinking', chunk.content + (chunk.isComplete ? ' ■ ' : '')]
            : [JSON.stringify(chunk), ''];
    const last = parts.at(-1);
    if (last?.[0] === key && !key.startsWith('{')) last[1] += content;
    else parts.push([key, content]);
  }
  return parts.map((part) => part.join(' '));
}

it('splitOversized cuts between characters, and only the last piece ends the block', () => {
  const content = `${'x'.repeat(32 * 1024 - 1)}😀${'y'.repeat(40_000)}`;
  const pieces = splitOversized({ type: 'thinking', ...base, content, isComplete: true });
  const told = pieces.map((piece) => (piece.type === 'thinking' ? piece : undefined));
  expect(told.map((piece) => piece?.content).join('')).toBe(content);
  expect(told.map((piece) => piece?.content.isWellFormed())).toEqual([true, true, true]);
  expect(told.map((piece) => piece?.isComplete)).toEqual([false, false, true]);
});

describe('takeBatch', () => {
  it('takeBatch keeps everything, in order, and takes at least one chunk', () => {
    fc.assert(
      fc.property(fc.array(Chunk, { maxLength: 40 }), (queue) => {
        const batches: StreamChunk[][] = [];
        let rest = queue;
        while (rest.length > 0) {
          const [taken, left] = takeBatch(rest);
          expect(left.length).toBeLessThan(rest.length);
          batches.push(taken);
          rest = left;
        }
        expect(describeChunks(batches.flat())).toEqual(describeChunks(queue));
        for (const batch of batches) {
          expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(2 * LIMITS.appendBytes);
        }
      }),
    );
  });

  it('takeBatch merges adjacent text of one block only', () => {
    const args = (toolCallId: string): StreamChunk => ({
      type: 'tool_arg_stream_delta',
      ...base,
      toolCallId,
      delta: 'x',
    });
    const [taken] = takeBatch([text('a'), text('b'), args('1'), args('1'), args('2'), text('c')]);
    expect(describeChunks(taken)).toEqual(['text ab', 'args 1 xx', 'args 2 x', 'text c']);
    expect(taken).toHaveLength(4);
  });

  it('takeBatch never fills one append beyond its limit with small chunks', () => {
    const queue = Array.from({ length: 2_000 }, () => text('y'.repeat(100)));
    const [taken, rest] = takeBatch(queue);
    expect(Buffer.byteLength(JSON.stringify(taken))).toBeLessThanOrEqual(LIMITS.appendBytes);
    expect(rest.length).toBeGreaterThan(0);
  });

  it('takeBatch counts what a provider says of a block', () => {
    const providerMetadata = { acme: { of: 'x'.repeat(10_000) } };
    const queue = Array.from({ length: 20 }, (_, n): StreamChunk => ({
      type: 'text_delta',
      ...base,
      delta: 'y',
      block: n + 1,
      providerMetadata,
    }));
    const [taken] = takeBatch(queue);
    expect(Buffer.byteLength(JSON.stringify(taken))).toBeLessThanOrEqual(LIMITS.appendBytes);
  });

  it('takeBatch merges text into its block, and keeps the end of one apart from the next', () => {
    const of = { acme: { of: 'A' } };
    const [taken] = takeBatch([
      { type: 'text_delta', ...base, delta: 'a', block: 1 },
      text('b'),
      { type: 'text_delta', ...base, delta: '', isComplete: true, providerMetadata: of },
      text('c'),
      { type: 'text_delta', ...base, delta: 'd', block: 1 },
    ]);
    expect(taken).toMatchObject([
      { delta: 'ab', block: 1, isComplete: true, providerMetadata: of },
      { delta: 'c' },
      { delta: 'd', block: 1 },
    ]);
  });
});

interface Pending {
  batch: number;
  chunks: StreamMessage[];
  reply: (result: AppendResult) => void;
  fail: (error: Error) => void;
}

/** An append that is answered by hand: the seam, not the store. */
function openWriter() {
  const pending: Pending[] = [];
  const events: string[] = [];
  const append: StreamManager['append'] = (_, batch, chunks) =>
    new Promise((reply, fail) => pending.push({ batch, chunks, reply, fail }));
  const writer = createChunkWriter(
    { append },
    { sessionId: 's', runId: 'r', name: 'm1', token: 1, agentType: 'a', step: 1 },
    (reason) => events.push(reason),
  );
  const next = async (): Promise<Pending> => {
    for (;;) {
      const first = pending.shift();
      if (first !== undefined) return first;
      await new Promise(setImmediate);
    }
  };
  return { writer, pending, events, next };
}

const appended: AppendResult = { kind: 'appended', sequence: 1, stopRequested: false };

describe('chunk writer', () => {
  it('a chunk writer has one append in flight, and gathers the next one meanwhile', async () => {
    const { writer, pending, next } = openWriter();
    writer.push([text('a')]);
    const first = await next();
    writer.push([text('b')]);
    writer.push([text('c')]);
    await new Promise(setImmediate);
    expect(pending).toHaveLength(0);
    first.reply(appended);
    const second = await next();
    expect([first.batch, second.batch]).toEqual([1, 2]);
    expect(second.chunks).toMatchObject([{ delta: 'bc' }]);
    second.reply(appended);
    await writer.flush();
    expect(writer.known()).toBe(1);
  });

  it('a chunk writer reports a stop, and continues to write', async () => {
    const { writer, events, next } = openWriter();
    writer.push([text('a')]);
    (await next()).reply({ ...appended, stopRequested: true });
    writer.push([text('b')]);
    (await next()).reply(appended);
    await writer.flush();
    expect(events).toEqual(['stop']);
    expect(writer.lost()).toBeUndefined();
  });

  it.each(['fenced', 'superseded'] as const)(
    'a chunk writer that is %s writes no more',
    async (kind) => {
      const { writer, pending, events, next } = openWriter();
      writer.push([text('a')]);
      const first = await next();
      writer.push([text('b')]);
      first.reply({ kind });
      await writer.flush();
      writer.push([text('c')]);
      await new Promise(setImmediate);
      expect(pending).toHaveLength(0);
      expect(writer.lost()).toBe(kind);
      expect(events).toEqual([kind]);
    },
  );

  it('a chunk writer makes a producer wait that is far ahead', async () => {
    const { writer, next } = openWriter();
    writer.push([text('a')]);
    const first = await next();
    expect(writer.room()).toBeUndefined();
    writer.push(Array.from({ length: 2_001 }, () => text('b')));
    expect(writer.room()).toBeInstanceOf(Promise);
    first.reply(appended);
    for (let left = 2_001 * 163; left > 0; left -= LIMITS.appendBytes)
      (await next()).reply(appended);
    await writer.flush();
    expect(writer.room()).toBeUndefined();
  });

  it('a chunk writer reports why a write failed', async () => {
    const { writer, next } = openWriter();
    writer.push([text('a')]);
    (await next()).fail(new Error('no such script'));
    await expect(writer.flush()).rejects.toThrow('no such script');
  });

  it('a chunk writer sends nothing behind a write that failed, and reports that failure', async () => {
    const { writer, pending, events, next } = openWriter();
    writer.push([text('a')]);
    (await next()).fail(new Error('too deep'));
    await expect(writer.flush()).rejects.toThrow('too deep');
    writer.push([text('b')]);
    await new Promise(setImmediate);
    expect(pending).toEqual([]);
    await expect(writer.flush()).rejects.toThrow('too deep');
    expect([events, writer.lost()]).toEqual([[], undefined]);
  });
});
