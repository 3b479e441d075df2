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

const ofServer = call('c1', 'output-available', { providerExecuted: true });

describe('prepared requests', () => {
  const messages: ChatMessage[] = [
    { id: 'u1', role: 'user', parts: [] },
    { id: 'u2', role: 'user', parts: [] },
  ];
  const request = { id: 's/1', messages, trigger: 'submit-message', messageId: undefined };

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

  const text = (state: string): object => ({ type: 'text', text: 'Hm', state });
  it.each<[string, object[], 'message' | 'reply' | 'both']>([
    ['a message behind a whole reply', [text('done')], 'message'],
    ['a message behind the calls of the server', [ofServer], 'message'],
    ['a message behind an answer', [call('c1', 'output-available')], 'both'],
    ['a message behind a question', [call('c1', 'input-available')], 'both'],
    ['a message behind a reply that was cut', [text('streaming')], 'both'],
    ['an answer', [call('c1', 'output-available')], 'reply'],
  ])('prepared requests send only what the server reads, on request: %s', (_, parts, sent) => {
    const [user] = messages;
    const said = reply(...parts).messages;
    const all = [...messages, ...said, ...(sent === 'reply' || user === undefined ? [] : [user])];
    const { body } = prepareHelixChatRequest({ api: '/x', send: 'tail' })({
      ...request,
      messages: all,
    });
    const tail = sent === 'both' ? { messages: [...said, user] } : { message: all.at(-1) };
    expect(body).toEqual({ id: 's/1', ...tail, trigger: 'submit-message' });
  });
});
