import { describe, expect, it } from '@jest/globals';
import { StreamTransformer, type UIStreamPart } from '../../ai-sdk/index.js';
import type { StreamMessage } from '../../protocol/chunk.js';
import type { Bare } from '../support/fake-call.js';

/** Chunks of step 1 of session `s1`. */
function chunks(...bare: Bare[]): StreamMessage[] {
  return bare.map((chunk) => at(1, chunk));
}

function at(step: number, chunk: Bare, agentId = 's1'): StreamMessage {
  return { ...chunk, agentId, agentType: 'lab', timestamp: 1, step };
}

function run(transformer: StreamTransformer, messages: StreamMessage[]): UIStreamPart[] {
  return messages.flatMap((message) => transformer.transform(message).events);
}

const text = (delta: string): Bare => ({ type: 'text_delta', delta });
const call = { toolCallId: 'c1', toolName: 'echo' };
const approval = { ...call, approvalId: 'r::c1' };
const discarded: Bare = {
  type: 'step_discarded',
  runId: 'r',
  stepId: 's1',
  reason: 'attempt_lost',
};
const end: StreamMessage = { type: 'stream_end', streamId: 's1', timestamp: 1 };

describe('StreamTransformer', () => {
  it('frames a step and ends the response', () => {
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

  it('gives the sequence of log entries back', () => {
    const transformer = new StreamTransformer();
    const [message] = chunks(text('a'));
    if (message === undefined) throw new Error('no chunk');
    expect(transformer.transform({ sequence: 7, writer: 'm1', message }).sequence).toBe(7);
    expect(transformer.transform(message).sequence).toBeUndefined();
  });

  it('names blocks by step and number, whatever came before', () => {
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

  it('announces a call before it asks, and before any result', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_approval_request', ...approval, input: { a: 1 } },
        { type: 'tool_approval_response', ...approval, approved: true },
        { type: 'tool_end', ...call, result: 2 },
      ),
    );
    expect(events.slice(2)).toEqual([
      { type: 'tool-input-available', ...call, input: { a: 1 }, dynamic: true },
      { type: 'tool-approval-request', toolCallId: 'c1', approvalId: 'r::c1' },
      { type: 'tool-output-available', toolCallId: 'c1', output: 2, dynamic: true },
    ]);
  });

  it('never marks a call that a person decides about, even if the tool runs on the server', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_approval_request', ...approval, input: {} },
        { type: 'tool_end', ...call, result: 1, providerExecuted: true },
      ),
    );
    expect(JSON.stringify(events)).not.toContain('providerExecuted');
  });

  it('gives a call one result: a denial stands', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_approval_request', ...approval, input: {} },
        { type: 'tool_approval_response', ...approval, approved: false },
        { type: 'tool_end', ...call, result: null, error: 'denied' },
      ),
    );
    expect(events.at(-1)).toEqual({ type: 'tool-output-denied', toolCallId: 'c1' });
  });

  it('reads streamed arguments of foreign runtimes, and says afterwards who executes', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_arg_stream_start', ...call },
        { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{"a":1}' },
        { type: 'tool_arg_stream_end', toolCallId: 'c1' },
        { type: 'tool_start', ...call, arguments: { a: 1 }, providerExecuted: true },
      ),
    );
    const available = { type: 'tool-input-available', ...call, input: { a: 1 }, dynamic: true };
    expect(events.slice(2)).toEqual([
      { type: 'tool-input-start', ...call, dynamic: true },
      { type: 'tool-input-delta', toolCallId: 'c1', inputTextDelta: '{"a":1}' },
      available,
      { ...available, providerExecuted: true },
    ]);
  });

  it('skips what clients would fail on or must not see', () => {
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

  it('shows control flow to onData only, never before start', () => {
    const resumed = { runId: 'r', fromCheckpointId: null, fromStepCount: 1, mode: 'continue' };
    const events = run(new StreamTransformer(), chunks({ type: 'run_resumed', ...resumed }));
    expect(events).toEqual([
      { type: 'start', messageId: 'msg-s1' },
      { type: 'data-run-resumed', data: { step: 1, ...resumed }, transient: true },
    ]);
  });

  it('leaves out what its filter refuses', () => {
    const transformer = new StreamTransformer({
      chunkFilter: ({ type }) => type !== 'state_patch',
    });
    const events = run(transformer, chunks({ type: 'state_patch', patches: [] }, text('a')));
    expect(events.some(({ type }) => type === 'data-state-patch')).toBe(false);
  });

  it('ends with an error when the run failed, and goes on after one that it survived', () => {
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

  it('guards an end behind a call, not a pause', () => {
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
});

describe('an attempt that died', () => {
  it('cuts a reader who was given part of it', () => {
    const transformer = new StreamTransformer();
    run(transformer, chunks({ type: 'step_start' }, text('half')));
    const [message] = chunks(discarded);
    expect(message && transformer.transform(message).mustCut).toBe(true);
  });

  it('goes on for a reader who was given nothing but the beginning of the step', () => {
    const transformer = new StreamTransformer();
    const events = run(
      transformer,
      chunks({ type: 'step_start' }, discarded, { type: 'step_start' }, text('whole')),
    );
    const parts = events.filter(({ type }) => !type.startsWith('data-'));
    expect(parts.map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
    ]);
  });

  it('does not withdraw what was committed', () => {
    const transformer = new StreamTransformer();
    run(transformer, chunks(text('kept'), { type: 'step_end' }));
    const [message] = chunks(discarded);
    expect(message && transformer.transform(message).mustCut).toBeUndefined();
  });

  it('is withdrawn from readers who understand that', () => {
    const transformer = new StreamTransformer({ profile: 'v7' });
    const events = run(
      transformer,
      chunks(
        { type: 'step_start' },
        text('half'),
        { type: 'tool_arg_stream_start', ...call },
        discarded,
        { type: 'step_start' },
        text('whole'),
      ),
    );
    const parts = events.filter(({ type }) => !type.startsWith('data-'));
    expect(parts.slice(-3)).toEqual([
      { type: 'reset-step' },
      { type: 'text-start', id: 't1-1' },
      { type: 'text-delta', id: 't1-1', delta: 'whole' },
    ]);
  });

  it.each<[string, Bare | undefined, true | undefined]>([
    ['an event', { type: 'custom', eventName: 'progress', data: 1 }, true],
    ['a patch', { type: 'state_patch', patches: [], undo: '[]' }, true],
    ['nothing', undefined, undefined],
  ])('cuts a client that was told %s of a call that begins again', (_, told, mustCut) => {
    const transformer = new StreamTransformer();
    const give = (writer: string, bare: Bare) =>
      transformer.transform({ sequence: 1, writer, message: at(1, bare) });
    if (told !== undefined) expect(JSON.stringify(give('t:c1', told))).not.toContain('undo');
    const again = (toolCallId: string): Bare => ({
      type: 'stream_resync',
      checkpointId: '',
      stepCount: 0,
      messageCount: 0,
      fromSequence: 1,
      reason: 'crash_recovery',
      toolCallId,
    });
    expect(give('', again('other')).mustCut).toBeUndefined();
    expect(give('', again('c1')).mustCut).toBe(mustCut);
  });

  it('shows what a rule approved as a plain call, and what it denied as denied', () => {
    const isAutomatic = true;
    const plain: Bare = {
      type: 'tool_start',
      ...call,
      arguments: { n: 1 },
      providerExecuted: true,
    };
    const asked: Bare = {
      type: 'tool_approval_request',
      ...approval,
      input: { n: 1 },
      isAutomatic,
    };
    const answered = (approved: boolean): Bare => ({
      type: 'tool_approval_response',
      ...approval,
      approved,
      isAutomatic,
    });
    const typesOf = (...bare: Bare[]): string[] =>
      run(new StreamTransformer(), chunks(...bare)).map(({ type }) => type);
    expect(typesOf(asked, answered(true), plain)).toEqual(typesOf(plain));
    expect(typesOf(asked, answered(false))).toEqual([
      'start',
      'start-step',
      'tool-input-available',
      'tool-approval-request',
      'tool-output-denied',
    ]);
  });
});
