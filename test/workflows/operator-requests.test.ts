import { checkRequest, pickRequest, toResultAnswer } from '../../workflows/operator-requests.js';

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
