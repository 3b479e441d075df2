import { StreamTransformer } from '../../../ai-sdk/index.js';
import type { Bare } from '../../support/fake-call.js';
import { approval, call, chunks, run } from './transformer-chunks.js';

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
    expect(typesOf(asked, answered(false))).toEqual([
      'start',
      'start-step',
      'tool-input-available',
      'tool-approval-request',
      'tool-output-denied',
    ]);
  });
});
