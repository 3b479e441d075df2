import {
  createStreamEndSentinel,
  isStreamEndSentinel,
  STREAM_END_SENTINEL,
} from '../../protocol/stream-end-sentinel.js';

describe('stream end sentinel', () => {
  it('the sentinel is the same symbol in every copy of the package', () => {
    expect(STREAM_END_SENTINEL).toBe(Symbol.for('helix.stream.end'));
  });

  it('the sentinel is recognised by its properties', () => {
    expect(isStreamEndSentinel(createStreamEndSentinel('ended'))).toBe(true);
    expect(createStreamEndSentinel('failed', 'No.')).toEqual({
      __streamEnd: true,
      status: 'failed',
      error: 'No.',
    });
    expect(createStreamEndSentinel('ended')).not.toHaveProperty('error');
  });

  it.each([
    null,
    undefined,
    'end',
    {},
    { __streamEnd: true },
    { __streamEnd: 1, status: 'ended' },
    { __streamEnd: true, status: 'paused' },
    { type: 'stream_end', status: 'ended' },
  ])('the value %j is no sentinel', (value) => {
    expect(isStreamEndSentinel(value)).toBe(false);
  });
});
