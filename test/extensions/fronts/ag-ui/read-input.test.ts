import { readInput } from '../../../../extensions/fronts/ag-ui/read-input.js';
import type { AgUiMessage } from '../../../../extensions/fronts/ag-ui/protocol.js';

const message = (id: string, role: string, more: Partial<AgUiMessage> = {}): AgUiMessage => ({
  id,
  role,
  content: id,
  ...more,
});

const newestOf = (...messages: AgUiMessage[]): string[] =>
  readInput({ threadId: 't', runId: 'r', messages }).newest.map(({ id }) => id);

describe('what a client of AG-UI adds', () => {
  it('all user messages after the last reply, whatever stands between and behind them', () => {
    const result = message('t1', 'tool', { toolCallId: 'c1' });
    const [u1, a1, u2] = [message('u1', 'user'), message('a1', 'assistant'), message('u2', 'user')];
    expect(newestOf(u1, a1, u2, result)).toEqual(['u2']);
    expect(newestOf(u1, a1, result, u2)).toEqual(['u2']);
    for (const role of ['developer', 'system', 'activity']) {
      expect(newestOf(u1, a1, u2, message('x', role))).toEqual(['u2']);
    }
    expect(newestOf(u1, a1)).toEqual([]);
    // This reply broke off while the model was thinking.
    expect(newestOf(u1, message('r1', 'reasoning'))).toEqual([]);
  });

  it('a refused message keeps no later one back', () => {
    const odd = message('u1', 'user', { content: [{ type: 'hologram' }] });
    expect(newestOf(odd, message('u2', 'user'))).toEqual(['u2']);
    expect(() => newestOf(message('u2', 'user'), odd)).toThrow('"hologram" is not taken');
  });

  it('a decision names the interrupt that it answers', () => {
    const entry = { interruptId: 's:1-a::c1', status: 'resolved', payload: { approved: true } };
    const { decisions } = readInput({
      threadId: 't',
      runId: 'r',
      messages: [],
      resume: [entry as never],
    });
    expect(decisions.get('c1')).toEqual({ approved: true, approvalId: 's:1-a::c1' });
  });
});
