import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createStepReply } from '../../activities/model/step-reply.js';
import type { StepReply } from '../../activities/model/reply-types.js';
import { StreamChunkSchema, type StreamChunk } from '../../protocol/chunk.js';
import { createReplyFold } from '../../protocol/reply-fold.js';
import { parts } from '../support/fake-model.js';

const base = { agentId: 's', agentType: 'a', step: 2 };

function hear(
  stream: LanguageModelV4StreamPart[],
  used: string[] = [],
): { reply: StepReply; chunks: StreamChunk[] } {
  const reply = createStepReply(base, new Set(used), () => 1);
  const chunks = stream.flatMap((part) => reply.accept(part));
  for (const chunk of chunks) expect(StreamChunkSchema.safeParse(chunk).success).toBe(true);
  return { reply, chunks };
}

const typesOf = (chunks: StreamChunk[]): string[] => chunks.map(({ type }) => type);

describe('a step reply', () => {
  it('a step reply shows a step with its first output, and not before', () => {
    const silent: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: '' },
    ];
    expect(hear(silent).chunks).toEqual([]);
    expect(hear(silent).reply.begun()).toBe(false);
    const { chunks, reply } = hear([...silent, { type: 'text-delta', id: 't', delta: 'x' }]);
    expect(typesOf(chunks)).toEqual(['step_start', 'text_delta']);
    expect(chunks[0]).toMatchObject({ stepId: 's2', ...base });
    expect(reply.begun()).toBe(true);
  });

  it('a step reply drops empty deltas', () => {
    const { chunks } = hear([
      { type: 'text-delta', id: 't', delta: '' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: '' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'tool-input-start', id: 'c', toolName: 't' },
      { type: 'tool-input-delta', id: 'c', delta: '' },
    ]);
    expect(typesOf(chunks)).toEqual(['step_start', 'tool_arg_stream_start']);
  });

  it('a step reply keeps parts that only their provider can read, and shows nothing of them', () => {
    const { chunks, reply } = hear([
      { type: 'custom', kind: 'acme.board', providerMetadata: { acme: { id: 'b' } } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
    ]);
    expect([chunks, reply.begun()]).toEqual([[], false]);
    const image = { type: 'reasoning-file', mediaType: 'image/png' };
    expect(reply.fold.parts).toEqual([
      {
        ...{ type: 'reasoning', text: '', stands: { type: 'custom', kind: 'acme.board' } },
        providerMetadata: { acme: { id: 'b' } },
      },
      { type: 'reasoning', text: '', stands: { ...image, url: 'data:image/png;base64,AAAA' } },
    ]);
  });

  it('a step reply makes ids of calls that were used before unique, for deltas and call alike', () => {
    const { chunks, reply } = hear(
      [
        { type: 'tool-input-start', id: 'c1', toolName: 't' },
        { type: 'tool-input-delta', id: 'c1', delta: '{}' },
        ...parts.call('c1', 't', {}),
        ...parts.call('', 't', {}),
        ...parts.call('c2', 't', {}),
      ],
      ['c1', 'c1_1', 'call'],
    );
    expect(reply.calls.map(({ toolCallId }) => toolCallId)).toEqual(['c1_2', 'call_1', 'c2']);
    const ids = chunks.flatMap((chunk) => ('toolCallId' in chunk ? [chunk.toolCallId] : []));
    expect(ids).toEqual(['c1_2', 'c1_2', 'call_1', 'c2']);
  });

  it('a step reply announces a call whose arguments were not streamed', () => {
    const { chunks } = hear(parts.call('c1', 't', { a: 1 }));
    expect(typesOf(chunks)).toEqual(['step_start', 'tool_arg_stream_start']);
  });

  it('a step reply shows what the provider executes, and leaves it to the provider', () => {
    const { chunks, reply } = hear([
      { type: 'tool-input-start', id: 'p', toolName: 'search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'p', delta: '{}' },
      {
        type: 'tool-call',
        toolCallId: 'p',
        toolName: 'search',
        input: '{}',
        providerExecuted: true,
      },
    ]);
    expect(chunks.map(({ type }) => type)).toEqual([
      'step_start',
      'tool_arg_stream_start',
      'tool_arg_stream_delta',
      'tool_start',
    ]);
    expect(chunks.at(-1)).toMatchObject({ providerExecuted: true, byProvider: true });
    expect(reply.calls).toEqual([]);
  });

  it("a step reply has the provider's finish reason", () => {
    expect(hear([]).reply.finish()).toBeUndefined();
    expect(hear(parts.finish('length')).reply.finish()).toEqual({
      reason: 'length',
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    const odd = parts.finish('weird' as 'other');
    expect(hear(odd).reply.finish()?.reason).toBe('other');
  });

  it('a step reply folds from its chunks to the same text, reasoning and calls', () => {
    const { chunks, reply } = hear([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'think' },
      { type: 'reasoning-end', id: 'r' },
      ...parts.text('one', 't1'),
      ...parts.call('c1', 't', {}),
      ...parts.text('two', 't2'),
    ]);
    const fold = createReplyFold();
    for (const chunk of chunks) fold.accept(chunk);
    expect(fold.parts).toEqual(reply.fold.parts);
    expect(fold.parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool-call', 'text']);
  });
});
