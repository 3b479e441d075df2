import { describe, expect, it } from '@jest/globals';
import { APICallError } from 'ai';
import { classifyFailure } from '../../web/src/failure.js';

function refusal(statusCode: number, responseBody: string, url = '/api/chat'): APICallError {
  return new APICallError({ message: 'no', url, requestBodyValues: {}, statusCode, responseBody });
}

describe('classifyFailure', () => {
  it('takes faults of the connection and of the stream for a broken response', () => {
    const fault = new Error('bad event');
    fault.name = 'AI_JSONParseError';
    expect(classifyFailure(new TypeError('network error'))).toEqual({ kind: 'broken' });
    expect(classifyFailure(fault)).toEqual({ kind: 'broken' });
  });

  it('tells the words of an error part', () => {
    expect(classifyFailure(new Error('model overloaded'))).toEqual({
      kind: 'reply',
      text: 'The reply failed: model overloaded',
    });
  });

  it.each([500, 502, 503, 429, 408])('offers another try after %d', (status) => {
    expect(classifyFailure(refusal(status, 'Bad gateway')).kind).toBe('unavailable');
  });

  it('has nothing to offer when only following was unavailable', () => {
    expect(classifyFailure(refusal(503, '', '/api/chat/s/stream'))).toEqual({ kind: 'broken' });
  });

  it('says what a known refusal means, and quotes an unknown one', () => {
    const busy = classifyFailure(refusal(409, '{"error":"x","code":"agent_already_running"}'));
    expect(busy).toEqual({ kind: 'refused', text: expect.stringContaining('still being written') });
    expect(classifyFailure(refusal(400, '{"error":"Bad id","code":"validation_error"}'))).toEqual({
      kind: 'refused',
      text: 'Bad id',
    });
    expect(classifyFailure(refusal(403, '<html>')).kind).toBe('refused');
  });
});
