import { StreamTransformer } from '../../../ai-sdk/index.js';
import type { Bare } from '../../support/fake-call.js';
import { at, call, chunks, run, text } from './transformer-chunks.js';

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
