import { createTimelineFold } from '../../api/fold-timeline.js';
import type { StreamChunk, StreamMessage } from '../../protocol/chunk.js';

type Written = Pick<StreamChunk, 'type'> & Record<string, unknown>;

/** Folds what an agent wrote, one message each 10 ms from 1,000. */
function fold(written: Written[], options: { continues?: boolean } = {}) {
  const folded = createTimelineFold({
    runId: 's:1-a',
    startedAt: 1_000,
    continues: options.continues ?? false,
  });
  written.forEach((message, at) => {
    const base = { agentId: 's', agentType: 'lab', step: 1, timestamp: 1_000 + 10 * (at + 1) };
    folded.add({
      sequence: at + 1,
      writer: '',
      message: { ...base, ...message } as unknown as StreamMessage,
    });
  });
  return folded;
}

const end = { type: 'stream_end', streamId: 's' } as unknown as Written;

describe('createTimelineFold', () => {
  it('a reply begins when the agent became free, and ends with its step', () => {
    const folded = fold([
      { type: 'step_start' },
      { type: 'text_delta', delta: 'hi' },
      { type: 'step_end', usage: { inputTokens: 3, outputTokens: 4 } },
      { type: 'checkpoint_created', checkpointId: 'cp' },
      end,
    ]);
    expect(folded.spans()).toEqual([
      {
        kind: 'model',
        sessionId: 's',
        agent: 'lab',
        step: 1,
        state: 'done',
        startedAt: 1_000,
        firstAt: 1_010,
        endedAt: 1_030,
        checkpointId: 'cp',
        inputTokens: 3,
        outputTokens: 4,
      },
    ]);
    expect(folded.hasEnded()).toBe(true);
  });

  it('a wait lasts from the question to the decision, the tool from there on', () => {
    const call = { toolCallId: 'c1', toolName: 'charge' };
    const [, wait, tool] = fold([
      { type: 'step_start' },
      { type: 'step_end' },
      { type: 'tool_approval_request', ...call },
      { type: 'run_paused' },
      { type: 'tool_approval_response', ...call, approved: true, by: 'ann' },
      { type: 'run_resumed', runId: 's:1-a' },
      { type: 'tool_end', ...call, result: 1 },
    ]).spans();
    expect(wait).toMatchObject({
      kind: 'wait',
      startedAt: 1_030,
      endedAt: 1_050,
      state: 'done',
      by: 'ann',
    });
    expect(tool).toMatchObject({ kind: 'tool', startedAt: 1_050, endedAt: 1_070, state: 'done' });
  });

  it('a denial ends the wait and runs nothing; a failed tool is failed', () => {
    const spans = fold([
      { type: 'tool_approval_request', toolCallId: 'c1', toolName: 'charge' },
      { type: 'tool_approval_response', toolCallId: 'c1', toolName: 'charge', approved: false },
      { type: 'tool_start', toolCallId: 'c2', toolName: 'boom', providerExecuted: true },
      { type: 'tool_end', toolCallId: 'c2', toolName: 'boom', error: 'no' },
      { type: 'tool_start', toolCallId: 'c3', toolName: 'locate' },
    ]).spans();
    expect(spans.map(({ kind, state }) => [kind, state])).toEqual([
      ['wait', 'denied'],
      ['tool', 'failed'],
      ['wait', 'open'],
    ]);
  });

  it('a model that failed before its first word has a bar of its own, with the reason', () => {
    const failure = { type: 'error', error: 'The provider failed.', recoverable: false } as const;
    const spans = fold([
      { type: 'step_start' },
      { type: 'step_end' },
      { ...failure, code: 'provider_error' },
      end,
    ]).spans();
    expect(spans).toEqual([
      expect.objectContaining({ step: 1, state: 'done' }),
      {
        kind: 'model',
        sessionId: 's',
        agent: 'lab',
        step: 2,
        state: 'failed',
        startedAt: 1_020,
        endedAt: 1_030,
        error: 'The provider failed.',
      },
    ]);
  });

  it('a model that failed in the middle of its reply is one bar, with the reason', () => {
    const spans = fold([
      { type: 'step_start' },
      { type: 'step_end', interrupted: 'failure' },
      { type: 'error', error: 'It broke off.', code: 'provider_stream_cut', recoverable: false },
      end,
    ]).spans();
    expect(spans).toMatchObject([{ state: 'failed', endedAt: 1_020, error: 'It broke off.' }]);
  });

  it.each([
    ['never started', 'engine_unavailable', []],
    ['was aborted while it began', 'framework_cancelled', []],
    ['was aborted in a reply', 'framework_cancelled', [{ type: 'step_start' }]],
    ['has spent what it may', 'spend_cap_reached', [{ type: 'step_start' }, { type: 'step_end' }]],
  ] as [string, string, Written[]][])('a run that %s has no failed model', (_, code, written) => {
    const failure = { type: 'error', error: 'no', code, recoverable: false } as const;
    const { spans } = fold([...written, failure, end]);
    expect(spans().filter(({ state }) => state === 'failed')).toEqual([]);
  });

  it('an error that the reply survived is no failure of the model', () => {
    const spans = fold([
      { type: 'step_start' },
      { type: 'error', error: 'A file was left out.', recoverable: true },
      { type: 'step_end' },
    ]).spans();
    expect(spans).toMatchObject([{ state: 'done' }]);
    expect(spans[0]).not.toHaveProperty('error');
  });

  it('an attempt that was withdrawn is a span of its own, before the one that replaced it', () => {
    const spans = fold([
      { type: 'step_discarded', runId: 's:1-a', stepId: 's1', reason: 'crash' },
      { type: 'step_start' },
    ]).spans();
    expect(spans).toMatchObject([
      { kind: 'model', state: 'lost', startedAt: 1_000, endedAt: 1_010 },
      { kind: 'model', state: 'open', startedAt: 1_010, firstAt: 1_020 },
    ]);
  });

  it("another agent's work is named after it, and its own replies begin with it", () => {
    const child = { agentId: 's.1-x', agentType: 'child' };
    const spans = fold([
      { type: 'tool_start', toolCallId: 'c1', toolName: 'delegate', providerExecuted: true },
      { type: 'subagent_start', subAgentType: 'child', subSessionId: 's.1-x', callId: 'c1' },
      { type: 'step_start', ...child },
      { type: 'step_end', ...child },
      { type: 'tool_end', toolCallId: 'c1', toolName: 'delegate', result: 1 },
    ]).spans();
    expect(spans).toMatchObject([
      { kind: 'agent', name: 'child', startedAt: 1_010, endedAt: 1_050 },
      { kind: 'model', sessionId: 's.1-x', startedAt: 1_020, endedAt: 1_040 },
    ]);
  });

  it.each([
    ['before its first word', 'provider_error', [2, 'failed', 'The provider failed.']],
    ['between its steps', 'spend_cap_reached', undefined],
    ['because it was stopped', undefined, undefined],
  ] as const)(
    "another agent's model has a bar if that run failed %s, and none for other ends",
    (_, cause, bar) => {
      const child = { agentId: 's.1-x', agentType: 'child' };
      const result = { error: 'The provider failed.', code: 'subagent_failed' };
      const of = { subAgentType: 'child', subSessionId: 's.1-x', callId: 'c1' };
      const failed = fold([
        { type: 'tool_start', toolCallId: 'c1', toolName: 'delegate', providerExecuted: true },
        { type: 'subagent_start', ...of },
        { type: 'step_start', ...child },
        { type: 'step_end', ...child },
        { type: 'subagent_end', ...of, result, ...(cause !== undefined && { cause }) },
        { type: 'tool_end', toolCallId: 'c1', toolName: 'delegate', error: result.error },
      ])
        .spans()
        .filter(({ kind, state }) => kind === 'model' && state === 'failed');
      expect(
        failed.map(({ sessionId, agent, step, state, error, startedAt, endedAt }) => [
          sessionId,
          agent,
          startedAt,
          endedAt,
          step,
          state,
          error,
        ]),
      ).toEqual(bar === undefined ? [] : [['s.1-x', 'child', 1_040, 1_050, ...bar]]);
    },
  );

  it('a run that continues a turn has none of what came before it, and its own end', () => {
    const folded = fold(
      [
        { type: 'step_start' },
        end,
        { type: 'run_resumed', runId: 's:1-a' },
        { type: 'step_start' },
        end,
        { type: 'step_start' },
      ],
      { continues: true },
    );
    expect(folded.spans()).toMatchObject([{ startedAt: 1_030, state: 'cut', endedAt: 1_050 }]);
  });
});
