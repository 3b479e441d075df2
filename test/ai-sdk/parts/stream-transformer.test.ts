import { StreamTransformer } from '../../../ai-sdk/index.js';
import { isControlMessage } from '../../../protocol/stream-end-sentinel.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import type { Bare } from '../../support/fake-call.js';
import { at, call, chunks, end, run, text } from './transformer-chunks.js';

describe('StreamTransformer', () => {
  it('StreamTransformer frames a step and ends the response', () => {
    const transformer = new StreamTransformer({ generateMessageId: (agent) => `msg-${agent}` });
    const events = run(transformer, chunks({ type: 'step_start' }, text('a'), text('b')));
    expect([...events, ...transformer.finalize().events]).toEqual([
      { type: 'start', messageId: 'msg-s1' },
      { type: 'start-step' },
      { type: 'text-start', id: 't1-1' },
      { type: 'text-delta', id: 't1-1', delta: 'a' },
      { type: 'text-delta', id: 't1-1', delta: 'b' },
      { type: 'text-end', id: 't1-1' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop' },
    ]);
  });

  it('StreamTransformer returns the sequence of log entries', () => {
    const transformer = new StreamTransformer();
    const [message] = chunks(text('a'));
    if (message === undefined) throw new Error('no chunk');
    expect(transformer.transform({ sequence: 7, writer: 'm1', message }).sequence).toBe(7);
    expect(transformer.transform(message).sequence).toBeUndefined();
  });

  it('StreamTransformer accepts what a resumable reader yields', async () => {
    const { streamManager } = createMemoryStores();
    const writer = await streamManager.createWriter('s1', 's1', 'agent');
    for (const chunk of chunks(text('a'), text('b'))) {
      if (!isControlMessage(chunk)) await writer.write(chunk);
    }
    await streamManager.endStream('s1');
    const transformer = new StreamTransformer();
    const parts: [number | undefined, string[]][] = [];
    for await (const item of (await streamManager.createResumableReader('s1')) ?? []) {
      const { sequence, events } = transformer.transform(item);
      parts.push([sequence, events.map(({ type }) => type)]);
    }
    expect(parts).toEqual([
      [1, ['start', 'start-step', 'text-start', 'text-delta']],
      [2, ['text-delta']],
    ]);
  });

  it('StreamTransformer names blocks by step and number, whatever came before', () => {
    const transformer = new StreamTransformer();
    const events = run(transformer, [
      ...chunks({ type: 'thinking', content: 'x', isComplete: true }, text('a')),
      ...chunks({ type: 'thinking', content: 'y', isComplete: false }, text('b')),
      at(2, text('c')),
    ]);
    const ids = events.flatMap((event) =>
      event.type.endsWith('-start') && 'id' in event ? [event.id] : [],
    );
    expect(ids).toEqual(['r1-1', 't1-1', 'r1-2', 't1-2', 't2-1']);
    const types = events.map(({ type }) => type);
    expect(types.indexOf('finish-step')).toBeGreaterThan(types.lastIndexOf('text-end'));
  });

  it('StreamTransformer skips what clients would fail on or must not see', () => {
    const transformer = new StreamTransformer();
    const events = run(transformer, [
      ...chunks(text('a')),
      ...chunks(
        { type: 'suspension_marker', kind: 'suspended_client_tool', payload: { toolCallIds: [] } },
        { type: 'tool_start', toolCallId: 'f', toolName: '__finish__', arguments: {} },
        { type: 'tool_end', toolCallId: 'f', toolName: '__finish__', result: {} },
        { type: 'tool_end', toolCallId: 'unknown', toolName: 'echo', result: 1 },
        { type: 'tool_arg_stream_delta', toolCallId: 'unknown', delta: 'x' },
      ),
      at(1, { type: 'invented_later' } as unknown as Bare),
      at(1, text('of another agent'), 's1-child'),
    ]);
    expect(events.slice(4)).toEqual([]);
  });

  it('StreamTransformer shows what sub-agents do to readers that ask for it, by the call, and keeps none of it', () => {
    const ofChild = { subAgentType: 'x', subSessionId: 's1/1-a', callId: 'c1' };
    const ofInner = { subAgentType: 'y', subSessionId: 's1/1-b', callId: 'c9' };
    const messages = [
      ...chunks(text('a'), { type: 'subagent_start', ...ofChild }),
      at(1, { type: 'step_start' }, 's1/1-a'),
      at(1, { type: 'subagent_start', ...ofInner }, 's1/1-a'),
      at(1, text('inner'), 's1/1-b'),
      at(1, { type: 'tool_start', ...call, arguments: {} }, 's1/1-a'),
      at(1, { type: 'tool_end', ...call, result: 'secret' }, 's1/1-a'),
      at(1, text('late'), 's1/1-z'),
      at(1, text('known'), 's1/1-k'),
    ];
    const subAgents = new Map([['s1/1-k', 'c2']]);
    const events = run(new StreamTransformer({ subAgents }), messages).filter(
      ({ type }) => type === 'data-subagent-progress',
    );
    const tool = { callId: 'c1', agentId: 's1/1-a', kind: 'tool', ...call };
    expect(events.map((event) => 'data' in event && event.data)).toMatchObject([
      { callId: 'c1', agentId: 's1/1-a', kind: 'step' },
      { callId: 'c1', agentId: 's1/1-b', kind: 'text', delta: 'inner' },
      { ...tool, state: 'running' },
      { ...tool, state: 'done' },
      { callId: 'c2', agentId: 's1/1-k', kind: 'text', delta: 'known' },
    ]);
    expect(events.every((event) => 'transient' in event && event.transient)).toBe(true);
    const others = run(new StreamTransformer(), messages).map(({ type }) => type);
    expect(others).not.toContain('data-subagent-progress');
  });

  it('StreamTransformer shows control flow to onData only, never before start', () => {
    const resumed = { runId: 'r', fromCheckpointId: null, fromStepCount: 1, mode: 'continue' };
    const events = run(new StreamTransformer(), chunks({ type: 'run_resumed', ...resumed }));
    expect(events).toEqual([
      { type: 'start', messageId: 'msg-s1' },
      { type: 'data-run-resumed', data: { step: 1, ...resumed }, transient: true },
    ]);
  });

  it('StreamTransformer leaves out what its filter refuses', () => {
    const transformer = new StreamTransformer({
      chunkFilter: ({ type }) => type !== 'state_patch',
    });
    const events = run(transformer, chunks({ type: 'state_patch', patches: [] }, text('a')));
    expect(events.some(({ type }) => type === 'data-state-patch')).toBe(false);
  });

  it('StreamTransformer ends with an error when the run failed, and continues after one that it survived', () => {
    const failed = new StreamTransformer();
    run(failed, chunks(text('a'), { type: 'error', error: 'Too bad.', recoverable: false }));
    failed.transform({ ...end, status: 'failed' });
    expect(failed.finalize().events.slice(-2)).toEqual([
      { type: 'error', errorText: 'Too bad.' },
      { type: 'finish', finishReason: 'error' },
    ]);
    const survived = new StreamTransformer();
    const events = run(survived, chunks({ type: 'error', error: 'Hm.', recoverable: true }));
    expect(events.at(-1)).toMatchObject({ type: 'data-error', transient: true });
    expect(survived.finalize().events.some(({ type }) => type === 'error')).toBe(false);
  });

  it.each([
    ['completed', 'stop'],
    ['interrupted', 'other'],
    ['failed', 'error'],
  ] as const)('a run that is %s finishes with %s', (status, finishReason) => {
    const transformer = new StreamTransformer();
    run(transformer, [...chunks(text('a')), { ...end, status }]);
    expect(transformer.finalize().events.at(-1)).toEqual({ type: 'finish', finishReason });
  });

  it('StreamTransformer names sub-agents without the tenant', () => {
    const child = { subAgentType: 'helper', callId: 'c1' };
    const subSessionId = 'Zm9vYmFyYmF6cXV4~s1.1-abc';
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'subagent_start', ...child, subSessionId },
        { type: 'subagent_end', ...child, subSessionId, result: 1 },
      ),
    );
    const shown = { ...child, subSessionId: 's1.1-abc' };
    expect(events.filter(({ type }) => type.startsWith('data-subagent'))).toMatchObject([
      { type: 'data-subagent-start', data: shown },
      { type: 'data-subagent-end', data: { ...shown, result: 1 } },
    ]);
    expect(JSON.stringify(events)).not.toContain('~');
  });

  it('StreamTransformer guards an end behind a call, not a pause', () => {
    const opening = chunks({ type: 'tool_start', ...call, arguments: {}, providerExecuted: true });
    const guard = ['start-step', 'message-metadata', 'finish-step', 'finish'];
    const ended = new StreamTransformer();
    run(ended, [...opening, end]);
    expect(ended.finalize().events.map(({ type }) => type)).toEqual(['finish-step', ...guard]);
    const paused = new StreamTransformer();
    run(paused, [...opening, ...chunks({ type: 'run_paused', runId: 'r', reason: 'approval' })]);
    expect(paused.finalize().events).toEqual([
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'tool-calls' },
    ]);
    const tail = new StreamTransformer({ isTail: true });
    run(tail, [...chunks({ type: 'tool_end', ...call, result: 1 }), end]);
    expect(tail.finalize().events.map(({ type }) => type)).toEqual(guard);
  });

  it('StreamTransformer logs unknown chunks, and no others', () => {
    const logged: string[] = [];
    const logger = {
      debug: (message: string, fields: object) => logged.push(message + JSON.stringify(fields)),
    };
    const transformer = new StreamTransformer({ logger });
    const newer = { type: 'from_the_future' } as unknown as Bare;
    const marker: Bare = {
      type: 'suspension_marker',
      kind: 'suspended_client_tool',
      payload: { toolCallIds: ['c1'] },
    };
    const events = run(transformer, chunks(text('a'), newer, marker));
    expect(events.every(({ type }) => /^(start|text)/.test(type))).toBe(true);
    expect(logged).toEqual(['an unknown chunk was left out{"type":"from_the_future"}']);
  });
});
