import { readShownInputs, toPostedAnswers } from '../../../extensions/fronts/posted-answers.js';
import {
  readAnswers,
  readConversation,
  readEarlierSession,
} from '../../../extensions/fronts/openai/conversation.js';
import type { CompletionMessage } from '../../../extensions/fronts/openai/protocol.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';

/** A session that waits for an approval and for a client tool. */
function session(): SessionCalls {
  const open = (toolCallId: string, kind: string) => ({
    spec: { toolCallId, kind, ...(kind === 'approval' && { approvalId: `s1:1-a::${toolCallId}` }) },
  });
  const record = { runId: 's1:1-a', messageId: 'msg-1' };
  return { record, openCalls: [open('a', 'approval'), open('c', 'client')] } as never;
}

const inputs = new Map<string, unknown>();

const post = (texts: Record<string, string>): unknown => {
  const answers = readAnswers(new Map(Object.entries(texts)), session());
  return toPostedAnswers({ ...answers, inputs }, session())[0]?.parts?.slice(1);
};

describe('answers of another protocol', () => {
  it.each(['yes', 'true', '{}', '{"approved":"true"}', '{"approved":1}', '[true]', 'null'])(
    'an approval is not given by %s',
    (text) => expect(post({ a: text })).toMatchObject([{ state: 'output-available' }]),
  );

  it('an error settles no approval that waits, and the result of an approved call is no answer', () => {
    const failed = { results: new Map([['a', { error: 'no' }]]), decisions: new Map(), inputs };
    expect(toPostedAnswers(failed, session())[0]?.parts?.slice(1)).toMatchObject([
      { state: 'output-available' },
    ]);
    const decided = session();
    for (const call of decided.openCalls) call.decision = { approved: true } as never;
    const known = { results: new Map([['a', { text: 'charged' }]]), decisions: new Map(), inputs };
    expect(toPostedAnswers(known, decided)[0]?.parts?.slice(1)).toMatchObject([
      { toolCallId: 'a', output: 'charged' },
    ]);
  });

  it('a decision is about the approval that it names, and the only answer to its call', () => {
    const approvalId = 'other:1-x::a';
    const decisions = new Map([['a', { approved: true, approvalId }]]);
    const results = new Map([['a', { text: 'charged' }]]);
    expect(toPostedAnswers({ results, decisions, inputs }, session())[0]?.parts?.slice(1)).toEqual([
      expect.objectContaining({ approval: { id: approvalId, approved: true } }),
    ]);
  });

  it('a call with approvers is decided by the input that the client was shown', () => {
    const guarded = session();
    for (const { spec } of guarded.openCalls) spec.approvers = { separate: true };
    const given = { results: new Map(), decisions: new Map([['a', { approved: true }]]) };
    const [unseen] = toPostedAnswers({ ...given, inputs }, guarded);
    expect(unseen?.parts).toContainEqual(
      expect.objectContaining({ toolCallId: 'a', approval: { id: '', approved: true } }),
    );
    const calls = [{ id: 'a', function: { arguments: '{"amount":5}' } }, { id: 'b' }, null];
    const shown = new Map(readShownInputs(calls));
    const [posted] = toPostedAnswers({ ...given, inputs: shown }, guarded);
    expect(posted?.parts).toContainEqual(
      expect.objectContaining({
        toolCallId: 'a',
        input: { amount: 5 },
        approval: { id: 's1:1-a::a', approved: true },
      }),
    );
  });

  it('an approval is given or denied by a decision, and a client tool answered by anything', () => {
    const text = '{"approved":false,"reason":"no"}';
    expect(post({ a: text, c: text })).toMatchObject([
      { state: 'approval-responded', approval: { id: 's1:1-a::a', approved: false, reason: 'no' } },
      { state: 'output-available', output: { approved: false, reason: 'no' } },
    ]);
    expect(post({ c: 'Berlin' })).toMatchObject([{ output: 'Berlin' }]);
  });

  it.each([
    ['deep', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['long', `[${'0,'.repeat(LIMITS.answerBytes / 2)}0]`],
  ])('what is too %s to be an answer is not parsed', (_, text) => {
    expect(post({ c: text })).toMatchObject([{ output: text }]);
    const calls = [{ id: 'c', function: { arguments: text } }];
    expect(readShownInputs(calls)).toEqual([['c', text]]);
  });
});

describe('the conversation of a completion', () => {
  const caller = { userId: 'ann', tenantId: 't1' };
  const read = (
    messages: CompletionMessage[],
    { session: named, key, ...of }: { session?: string; key?: string; userId?: string } = {},
  ) =>
    readConversation(
      { model: 'lab', messages },
      { caller: { ...caller, ...of }, session: named, key },
    );
  const hi: CompletionMessage = { role: 'user', content: 'hi' };

  it('a key names the same conversation and messages again, for the same caller only', () => {
    const first = read([hi], { key: 'k' });
    expect(read([hi], { key: 'k' })).toEqual(first);
    const other = read([hi], { key: 'k', userId: 'bob' });
    expect(other.sessionId).not.toBe(first.sessionId);
    expect(other.messagePrefix).not.toBe(first.messagePrefix);
    expect(read([hi]).sessionId).not.toBe(read([hi]).sessionId);
    // Another model means other content in the same conversation.
    const caller = { userId: 'ann', tenantId: 't1' };
    const model = { model: 'support', messages: [hi] };
    const asked = readConversation(model, { caller, session: undefined, key: 'k' });
    expect(asked.sessionId).toBe(first.sessionId);
  });

  it('the answers of a request belong to one conversation', () => {
    const answer = (id: string): CompletionMessage => ({
      role: 'tool',
      tool_call_id: id,
      content: '1',
    });
    expect(read([answer('s1:c1'), answer('s1:c:2')])).toMatchObject({
      sessionId: 's1',
      isNew: false,
      answers: new Map([
        ['c1', '1'],
        ['c:2', '1'],
      ]),
    });
    expect(read([answer('c1')], { session: 's2' }).answers).toEqual(new Map([['c1', '1']]));
    expect(() => read([answer('c1')])).toThrow('tool_call_id');
    expect(() => read([hi], { session: 'a b' })).toThrow('session id');
    // Answers before the last reply belong to earlier requests.
    const replied: CompletionMessage = { role: 'assistant', content: 'x' };
    expect(read([answer('s1:c1'), replied, hi]).isNew).toBe(true);
    expect(readEarlierSession({ messages: [answer('s1:c1'), replied, hi] })).toBe('s1');
    expect(readEarlierSession({ messages: [answer('s1:c1'), answer('s2:c1'), hi] })).toBe('s2');
    expect(readEarlierSession({ messages: [answer('call_1'), replied, hi] })).toBeUndefined();
  });
});
