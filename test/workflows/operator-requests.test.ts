import {
  checkRequest,
  pickRequest,
  toResultAnswer,
  type OperatorRequests,
} from '../../workflows/operator-requests.js';

const C = { toolCallId: 'c' };
const NAME = 'a text of 1 to 256 characters';

describe('what an operator asks for', () => {
  it("an operator's request is selected by name", () => {
    // Another build may have accepted more.
    const request = { toolCallId: 'c', by: 'olga', approved: true, sessionId: 'other', kind: 'x' };
    expect(pickRequest('deny', request)).toEqual({ toolCallId: 'c', by: 'olga' });
    expect(pickRequest('extendDeadline', { ...request, byMs: 5 })).toEqual({
      toolCallId: 'c',
      byMs: 5,
      by: 'olga',
    });
    expect(pickRequest('stop', null)).toEqual({});
  });

  it.each<[keyof OperatorRequests, unknown, string]>([
    ['approve', undefined, 'the argument is missing'],
    ['stop', [], 'the argument must be an object'],
    ['approve', { by: 'olga' }, 'toolCallId is missing'],
    ['approve', { toolCallId: 'c'.repeat(257) }, `toolCallId must be ${NAME}`],
    ['deny', { ...C, by: '' }, `by must be ${NAME}`],
    [
      'deny',
      { ...C, approvalId: 'a'.repeat(769) },
      'approvalId must be a text of 1 to 768 characters',
    ],
    ['deny', { ...C, toString: 1 }, 'unknown field "toString"'],
    ['submitToolResult', { ...C, result: 1, error: 'no' }, 'give a result or an error, not both'],
    ['extendDeadline', C, 'byMs is missing'],
    ['extendDeadline', { ...C, byMs: 0 }, 'byMs must be a whole number of milliseconds above 0'],
    ['stop', { mode: 'kill' }, "mode must be 'interrupt' or 'abort'"],
  ])('%s with %j is refused', (name, input, why) => {
    expect(() => {
      checkRequest(name, input);
    }).toThrow(why);
  });

  it('an operator may stop a run without an argument', () => {
    expect(() => {
      checkRequest('stop', null);
    }).not.toThrow();
  });

  it('an argument that no activity could get as well is refused', () => {
    const check = (result: string) => () => {
      checkRequest('submitToolResult', { toolCallId: 'c', result });
    };
    expect(check('é'.repeat(512 * 1024))).not.toThrow();
    expect(check('é'.repeat(1024 * 1024))).toThrow('the argument is too large');
  });

  it("an operator's answer without a result has the result null", () => {
    expect(toResultAnswer({ toolCallId: 'c' })).toEqual({ toolCallId: 'c', result: null });
    expect(toResultAnswer({ toolCallId: 'c', error: 'no', result: 1 })).toEqual({
      toolCallId: 'c',
      error: 'no',
    });
  });
});
