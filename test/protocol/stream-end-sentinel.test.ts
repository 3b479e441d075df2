import { describe, expect, it } from '@jest/globals';
import {
  createStreamEndSentinel,
  isStreamEndSentinel,
  STREAM_END_SENTINEL,
} from '../../protocol/stream-end-sentinel.js';

describe('stream end sentinel', () => {
  it('is the same symbol in every copy of the package', () => {
    expect(STREAM_END_SENTINEL).toBe(Symbol.for('helix.stream.end'));
  });

  it('is known by its marks', () => {
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
  ])('is not %j', (value) => {
    expect(isStreamEndSentinel(value)).toBe(false);
  });
});
