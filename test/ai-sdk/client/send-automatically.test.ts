import {
  createHelixSendAutomaticallyWhen,
  prepareHelixChatRequest,
  prepareHelixReconnectRequest,
  type ChatMessage,
} from '../../../ai-sdk/client/index.js';

function reply(...parts: object[]): { messages: ChatMessage[] } {
  const all = [{ type: 'step-start' }, ...parts] as ChatMessage['parts'];
  return { messages: [{ id: 'msg-1', role: 'assistant', parts: all }] };
}

const call = (toolCallId: string, state: string, more: object = {}): object => ({
  type: 'dynamic-tool',
  toolName: 'locate',
  toolCallId,
  state,
  ...more,
});

describe('automatic posting', () => {
  it('the predicate posts once for each set of answers', () => {
    const when = createHelixSendAutomaticallyWhen();
    const first = reply(call('c1', 'output-available'));
    expect([when(first), when(first)]).toEqual([true, false]);
    const second = reply(call('c1', 'output-available'), call('c2', 'output-error'));
    expect([when(second), when(second)]).toEqual([true, false]);
    // Each chat has its own.
    expect(createHelixSendAutomaticallyWhen()(first)).toBe(true);
  });

  it('the predicate waits for all calls of the step that people or the page answer', () => {
    const when = createHelixSendAutomaticallyWhen();
    const approval = { approval: { id: 'a', approved: true } };
    for (const open of ['input-streaming', 'input-available', 'approval-requested']) {
      expect(when(reply(call('c1', 'output-available'), call('c2', open)))).toBe(false);
    }
    const preliminary = call('c2', 'output-available', { preliminary: true });
    expect(when(reply(call('c1', 'output-available'), preliminary))).toBe(false);
    expect(
      when(reply(call('c1', 'output-available'), call('c2', 'approval-responded', approval))),
    ).toBe(true);
  });

  it('the predicate ignores the results of the server', () => {
    const when = createHelixSendAutomaticallyWhen();
    const run = { providerExecuted: true };
    const approved = { approval: { id: 'a', approved: true } };
    expect(when(reply(call('c1', 'output-available', run)))).toBe(false);
    // An approved call's output is the server's.
    expect(when(reply(call('c1', 'output-available', approved)))).toBe(false);
    expect(when(reply(call('c1', 'output-denied', approved)))).toBe(false);
    expect(when(reply(call('c1', 'input-available', run), call('c2', 'output-available')))).toBe(
      true,
    );
    const earlier = reply(call('c3', 'output-available'), { type: 'step-start' });
    expect(when(earlier)).toBe(false);
    expect(when({ messages: [{ id: 'u1', role: 'user', parts: [] }] })).toBe(false);
  });

  it('the predicate counts an answer again once it is forgotten', () => {
    const when = createHelixSendAutomaticallyWhen();
    const answered = reply(call('c1', 'output-available'));
    expect(when(answered)).toBe(true);
    when.forget('c1');
    expect(when(answered)).toBe(true);
  });
});

describe('prepared requests', () => {
  const messages: ChatMessage[] = [
    { id: 'u1', role: 'user', parts: [] },
    { id: 'u2', role: 'user', parts: [] },
  ];
  const request = { id: 's/1', messages, trigger: 'submit-message', messageId: 'u2' };

  it("prepared requests extend the transport's request, and use the given address", () => {
    const options = {
      api: '/api/chat/s%2F1',
      resumeFromSequence: 7,
      existingMessageId: 'msg-1',
      body: { agent: 'lab', id: 'mine' },
    };
    const given = { headers: { Authorization: 'Bearer t' }, credentials: 'include' as const };
    const headers = {
      authorization: 'Bearer t',
      'x-resume-from-sequence': '7',
      'x-existing-message-id': 'msg-1',
    };
    const reconnect = prepareHelixReconnectRequest(options)({ id: 's/1', ...given });
    expect(reconnect).toEqual({ api: '/api/chat/s%2F1', credentials: 'include', headers });
    const send = prepareHelixChatRequest(options)({
      ...request,
      ...given,
      body: { busy: 'queue' },
    });
    expect(send).toEqual({
      api: '/api/chat/s%2F1',
      credentials: 'include',
      headers,
      body: { agent: 'lab', busy: 'queue', ...request },
    });
  });

  const said = reply().messages;
  const [first] = messages;
  it.each([
    ['the first message', messages.slice(0, 1), { message: first }],
    ['the first messages', messages, { messages }],
    // The page may have stopped the reply behind a step's beginning.
    ['new messages', [...messages, ...said, ...messages], { messages: [...said, ...messages] }],
    ['an answer', [...messages, ...said], { message: said[0] }],
  ])('prepared requests send only what the server reads, on request: %s', (_, all, tail) => {
    const bodyOf = (options: { send?: 'tail' }) =>
      prepareHelixChatRequest({ api: '/x', ...options })({ ...request, messages: all }).body;
    const about = { id: 's/1', trigger: 'submit-message', messageId: 'u2' };
    expect(bodyOf({ send: 'tail' })).toEqual({ ...about, ...tail });
    expect(bodyOf({})).toEqual({ ...about, messages: all });
  });
});
