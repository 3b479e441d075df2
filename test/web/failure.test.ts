import { ChatRequestError, ReplyBrokenError } from '../../ai-sdk/client/index.js';
import { classifyFailure } from '../../web/src/failure.js';

const refusal = (statusCode: number, body: string): ChatRequestError =>
  new ChatRequestError(statusCode, body);

it('classifyFailure leaves a withdrawn reply to the chat, and offers another try when the server is away', () => {
  expect(classifyFailure(new ReplyBrokenError('withdrawn'))).toEqual({ kind: 'withdrawn' });
  expect(classifyFailure(new ReplyBrokenError('unreachable')).kind).toBe('unavailable');
  expect(classifyFailure(new TypeError('network error')).kind).toBe('unavailable');
});

it('classifyFailure returns the text of an error part', () =>
  expect(classifyFailure(new Error('model overloaded'))).toEqual({
    kind: 'reply',
    text: 'The reply failed: model overloaded',
  }));

it.each([500, 502, 503, 429, 408])('classifyFailure offers another try after status %d', (status) =>
  expect(classifyFailure(refusal(status, 'Bad gateway')).kind).toBe('unavailable'),
);

it('classifyFailure explains a known refusal, and quotes an unknown one', () => {
  const busy = classifyFailure(refusal(409, '{"error":"x","code":"agent_already_running"}'));
  expect(busy).toEqual({ kind: 'refused', text: expect.stringContaining('still being written') });
  expect(classifyFailure(refusal(400, '{"error":"Bad id","code":"validation_error"}'))).toEqual({
    kind: 'refused',
    text: 'Bad id',
  });
  expect(classifyFailure(refusal(403, '<html>')).kind).toBe('refused');
  const full = classifyFailure(refusal(429, '{"error":"Too many","code":"queue_full"}'));
  expect(full).toEqual({ kind: 'refused', text: 'Too many' });
});
