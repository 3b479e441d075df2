import { StreamTransformer, type StreamProfile, type UIStreamPart } from '../../../ai-sdk/index.js';
import type { StreamMessage } from '../../../protocol/chunk.js';
import { isControlMessage } from '../../../protocol/chunk-guards.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import type { Bare } from '../../support/fake-call.js';

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
const end: Extract<StreamMessage, { type: 'stream_end' }> = {
  type: 'stream_end',
  streamId: 's1',
  timestamp: 1,
};

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

  it('StreamTransformer gives a file its name, and keeps what its provider says of it', () => {
    const file = { type: 'file', url: 'data:,', mediaType: 'a/b', filename: 'a' } as const;
    const events = run(new StreamTransformer(), chunks({ ...file, providerMetadata: { a: {} } }));
    expect(events.at(-1)).toMatchObject({ providerMetadata: { a: {}, helix: { filename: 'a' } } });
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
    const control = chunks(
      { type: 'run_resumed', ...resumed },
      { type: 'custom', eventName: 'seen', data: 1, transient: true },
    );
    expect(run(new StreamTransformer(), control)).toEqual([
      { type: 'start', messageId: 'msg-s1' },
      { type: 'data-run-resumed', data: { step: 1, ...resumed }, transient: true },
      { type: 'data-seen', data: 1, transient: true },
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

  it('an end without a status is that of the interruption before it', () => {
    const interrupted: Bare = { type: 'run_interrupted', runId: 'r', checkpointId: null };
    const resumed = { runId: 'r', fromCheckpointId: null, fromStepCount: 0, mode: 'continue' };
    const reasonOf = (...bare: Bare[]): unknown => {
      const transformer = new StreamTransformer();
      run(transformer, [...chunks(text('a'), ...bare), end]);
      return transformer.finalize().events.at(-1);
    };
    expect(reasonOf(interrupted)).toMatchObject({ finishReason: 'other' });
    const again: Bare = { type: 'run_resumed', ...resumed };
    expect(reasonOf(interrupted, again)).toMatchObject({ finishReason: 'stop' });
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

  it('StreamTransformer guards an end behind a call, and a pause that asks nobody, but no question', () => {
    const opening = chunks({ type: 'tool_start', ...call, arguments: {}, providerExecuted: true });
    const guard = ['start-step', 'message-metadata', 'finish-step', 'finish'];
    const [ended, tail] = [new StreamTransformer(), new StreamTransformer({ isTail: true })];
    run(ended, [...opening, end]);
    expect(ended.finalize().events.map(({ type }) => type)).toEqual(['finish-step', ...guard]);
    for (const id of ['c1', undefined]) {
      const paused = new StreamTransformer();
      const of = { runId: 'r', reason: 'client_tool', pendingToolCallId: id } as const;
      run(paused, [...opening, ...chunks({ type: 'run_paused', ...of })]);
      const types = paused.finalize().events.map(({ type }) => type);
      expect(types).toEqual(['finish-step', ...(id === undefined ? guard : ['finish'])]);
    }
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

describe('a tool call, to a client,', () => {
  it('a stream announces a call before its question and before any result', () => {
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

  it('a stream never marks a call that a person decides as provider-executed', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_approval_request', ...approval, input: {} },
        { type: 'tool_end', ...call, result: 1, providerExecuted: true },
      ),
    );
    expect(JSON.stringify(events)).not.toContain('providerExecuted');
  });

  it('a stream gives a call one result, and a denial stays', () => {
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

  it("a stream gives a page's late result after the time-out of its call, and then no other", () => {
    const late = { type: 'tool_end' as const, ...call, result: 1 };
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_start', ...call, arguments: {}, byClient: true },
        { ...late, result: null, error: 'late', errorCode: 'client_tool_timeout' },
        late,
        { ...late, result: 2 },
      ),
    );
    expect(events.slice(3)).toEqual([
      { type: 'tool-output-error', toolCallId: 'c1', errorText: 'late' },
      { type: 'tool-output-available', toolCallId: 'c1', output: 1 },
    ]);
  });

  it('a call that was repaired to one of a page has the flag of its arguments to the end', () => {
    const events = run(
      new StreamTransformer(),
      chunks(
        { type: 'tool_arg_stream_start', ...call },
        { type: 'tool_start', ...call, arguments: {}, byClient: true },
        { type: 'tool_end', ...call, result: 1, byClient: true },
      ),
    );
    const ofCall = events.filter((event) => 'toolCallId' in event);
    expect(ofCall.map((event) => 'dynamic' in event && event.dynamic)).toEqual([true, true, true]);
  });

  it('a stream reads arguments of foreign runtimes, and states afterwards who executes the call', () => {
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

  it('a stream shows a call that a rule approved as a plain one, and a denied one as denied', () => {
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
    const denied = typesOf(asked, answered(false), { type: 'step_end' });
    expect(denied.slice(2, -1)).toEqual([AVAILABLE, REQUEST, DENIED]);
  });
});

const discarded: Bare = {
  type: 'step_discarded',
  runId: 'r',
  stepId: 's1',
  reason: 'attempt_lost',
};

describe('an attempt that died', () => {
  it('a dead attempt cuts a reader that received part of it', () => {
    const transformer = new StreamTransformer();
    run(transformer, chunks({ type: 'step_start' }, text('half')));
    const [message] = chunks(discarded);
    expect(message && transformer.transform(message).mustCut).toBe(true);
  });

  it('a dead attempt does not cut a reader that has only the beginning of the step', () => {
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

  it('a dead attempt does not withdraw committed text', () => {
    const transformer = new StreamTransformer();
    run(transformer, chunks(text('kept'), { type: 'step_end' }));
    const [message] = chunks(discarded);
    expect(message && transformer.transform(message).mustCut).toBeUndefined();
  });

  it('a dead attempt is withdrawn from readers that understand a reset', () => {
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
  ])('a second execution of a call cuts a client that has %s of the first', (_, sent, mustCut) => {
    const transformer = new StreamTransformer();
    const give = (writer: string, bare: Bare) =>
      transformer.transform({ sequence: 1, writer, message: at(1, bare) });
    if (sent !== undefined) expect(JSON.stringify(give('t:c1', sent))).not.toContain('undo');
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
});

const ASKED: Bare = { type: 'tool_approval_request', ...approval, input: {} };
const answered = (approved: boolean): Bare => ({
  type: 'tool_approval_response',
  ...approval,
  approved,
});

/** Types of the parts about the call, for a viewer who may not decide it. */
function played(
  profile: StreamProfile,
  bare: Bare[],
  options: { isTail?: boolean } = {},
): string[] {
  const transformer = new StreamTransformer({ profile, isWithheld: () => true, ...options });
  const events = run(transformer, chunks(...bare));
  return events.map(({ type }) => type).filter((type) => type.startsWith('tool-'));
}

const AVAILABLE = 'tool-input-available';
const REQUEST = 'tool-approval-request';
const RESPONSE = 'tool-approval-response';
const DENIED = 'tool-output-denied';

describe('a request for an approval that the viewer may not give', () => {
  it.each<[StreamProfile, string[], string[]]>([
    ['common', [], [REQUEST, DENIED]],
    ['v7', [REQUEST, RESPONSE], [REQUEST, RESPONSE, DENIED]],
  ])('%s: it is shown with its answer, as far as the client needs it', (profile, yes, no) => {
    expect(played(profile, [ASKED])).toEqual([AVAILABLE]);
    expect(played(profile, [ASKED, answered(true)])).toEqual([AVAILABLE, ...yes]);
    expect(played(profile, [ASKED, answered(false)])).toEqual([AVAILABLE, ...no]);
  });

  it('a tail brings the request with the answer, since the client has only the call', () => {
    const isTail = { isTail: true };
    expect(played('v7', [answered(true)], isTail)).toEqual([REQUEST, RESPONSE]);
    expect(played('common', [answered(false)], isTail)).toEqual([REQUEST, DENIED]);
    expect(played('common', [answered(true)], isTail)).toEqual([]);
  });

  it('a mark of the server counts as well', () => {
    const typesOf = (asked: Bare): string[] =>
      run(new StreamTransformer(), chunks(asked)).map(({ type }) => type);
    expect(typesOf({ ...ASKED, mayDecide: false })).not.toContain(REQUEST);
    expect(typesOf(ASKED)).toContain(REQUEST);
  });
});
