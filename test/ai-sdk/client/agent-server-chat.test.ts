import type { UIMessage } from 'ai';
import {
  createHelixChatTransport,
  createHelixSendAutomaticallyWhen,
} from '../../../ai-sdk/client/index.js';
import { callsOf, CLIENT_7, loadSnapshot, textOf, toScript } from '../../support/chat-client.js';
import { toComparable } from '../../support/compare-messages.js';
import { useLocalProduct } from '../../support/local-product.js';
import { postJson } from '../../support/post-json.js';
import { newSessionId } from '../../support/product.js';
import { until } from '../../support/until.js';

const product = useLocalProduct();

const slow = { say: 'one two three four five six seven', deltas: 14, everyMs: 100 };

/** Script of a reply that begins, then stays open for ten minutes. */
const ENDLESS = { say: 'Wait for it.', deltas: 2, everyMs: 600_000 };

describe('a chat on the agent server', () => {
  const { Chat } = CLIENT_7;

  /** What happens before the first request to a path. */
  type Before = Record<string, (chat: { id: string; stop: () => Promise<void> }) => unknown>;

  /** @param options `lost` is a path whose first reply never arrives */
  function open({
    isAutomatic = true,
    lost = '',
    before = {},
  }: { isAutomatic?: boolean; lost?: string; before?: Before } = {}) {
    const sessionId = newSessionId();
    const requests: string[] = [];
    const chat = new Chat<UIMessage>({
      id: sessionId,
      ...(isAutomatic && { sendAutomaticallyWhen: createHelixSendAutomaticallyWhen() }),
      transport: createHelixChatTransport({
        endpoint: `${product.url}/api/agent`,
        agentType: 'lab',
        retryDelayMs: () => 0,
        fetch: async (input, init) => {
          const path = new URL(input as string).pathname.replace('/api/agent/', '');
          const isFirst = !requests.includes(path);
          requests.push(path);
          if (isFirst) await before[path]?.(chat);
          const response = await fetch(input, init);
          if (path === lost && isFirst) throw new TypeError('Failed to fetch');
          return response;
        },
      }),
    });
    const reply = (): string => {
      const last = chat.messages.at(-1);
      return last?.role === 'assistant' ? textOf(last) : '';
    };
    return { chat, sessionId, requests, reply };
  }

  type Opened = ReturnType<typeof open>;

  const post = (path: string, body: object): Promise<Response> =>
    postJson(`${product.url}/api/agent/${path}`, body);

  async function expectStored({ chat, sessionId }: Opened): Promise<void> {
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe('ready');
    const { messages } = await loadSnapshot(product.url, sessionId);
    const shown = JSON.parse(JSON.stringify(chat.messages)) as UIMessage[];
    expect(toComparable(shown)).toEqual(toComparable(messages));
    expect(shown.at(-1)?.metadata).toEqual(messages.at(-1)?.metadata);
  }

  it('a chat on the agent server shows the stored messages, turn after turn', async () => {
    const opened = open();
    const { chat, requests, reply } = opened;
    const echo = { tool: 'echo', id: 'e1', args: { value: 1 }, argDeltas: 3 };
    await chat.sendMessage(
      toScript({ think: 'hm', say: 'Look:', calls: [echo] }, { say: 'Done.' }),
    );
    expect(reply()).toBe('Look:Done.');
    await chat.sendMessage({ text: 'And now?' });
    expect(chat.messages).toHaveLength(4);
    expect(requests).toEqual(['start', 'status', 'sse', 'start', 'status', 'sse']);
    await expectStored(opened);
  });

  it('a chat on the agent server waits while only sub-agents write', async () => {
    const opened = open();
    const { chat, requests, reply } = opened;
    const charge = { tool: 'charge', id: 'c1', args: { amount: 1 } };
    const child = [
      { say: 'Asking.', everyMs: 20, calls: [charge] },
      { ...slow, everyMs: 20 },
    ];
    const delegate = { tool: 'delegate', id: 'd1', args: { script: child } };
    await chat.sendMessage(toScript({ calls: [delegate] }, { say: 'Done.' }));
    const asked = callsOf(chat.lastMessage).find(({ state }) => state === 'approval-requested');
    if (asked?.state !== 'approval-requested') throw new Error('nothing is asked');
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until('the agent has replied', () => chat.status === 'ready' && reply() === 'Done.');
    expect(requests).toEqual(['start', 'status', 'sse', 'status', 'submit-tool-result', 'sse']);
    await expectStored(opened);
  });

  it.each([
    { ids: ['l1'], state: 'output-available', text: 'So Rome.', waits: ['sse'] },
    { ids: ['l1', 'l2'], state: 'output-error', text: '', waits: [] },
  ])(
    "a chat on the agent server sends a client tool's result before a new message: $ids",
    async ({ ids, state, text, waits }) => {
      const { chat, sessionId, requests, reply } = open({ isAutomatic: false });
      const calls = ids.map((id) => ({ tool: 'locate', id, args: {} }));
      await chat.sendMessage(toScript({ calls }, { say: 'So Rome.' }));
      await chat.addToolOutput({ tool: 'locate', toolCallId: 'l1', output: { city: 'Rome' } });
      await chat.sendMessage({ text: 'And now?' });
      expect(chat.error).toBeUndefined();
      expect(reply()).toContain('And now?');
      const after = ['submit-tool-result', ...waits, 'start', 'status', 'sse'];
      expect(requests.slice(requests.indexOf('submit-tool-result'))).toEqual(after);
      const [, asking] = (await loadSnapshot(product.url, sessionId)).messages;
      if (asking === undefined) throw new Error('unreachable');
      expect(callsOf(asking)[0]).toMatchObject({ output: { city: 'Rome' } });
      expect([callsOf(asking).at(-1)?.state, textOf(asking)]).toEqual([state, text]);
    },
  );

  it('an answer whose reply was lost does not make the chat wait for another question', async () => {
    const { chat, requests } = open({ isAutomatic: false, lost: 'submit-tool-result' });
    const calls = ['l1', 'l2'].map((id) => ({ tool: 'locate', id, args: {} }));
    await chat.sendMessage(toScript({ calls }));
    await chat.addToolOutput({ tool: 'locate', toolCallId: 'l1', output: 'Rome' });
    await chat.sendMessage();
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    const submit = 'submit-tool-result';
    expect(requests.slice(3)).toEqual(['status', submit, submit, 'status']);
  });

  it('an answer that came too late keeps no message back', async () => {
    const before: Before = {
      'submit-tool-result': ({ id: sessionId }) => post('interrupt', { sessionId }),
    };
    const { chat, reply } = open({ isAutomatic: false, before });
    await chat.sendMessage(toScript({ calls: [{ tool: 'locate', id: 'l1', args: {} }] }));
    await chat.addToolOutput({ tool: 'locate', toolCallId: 'l1', output: 'Rome' });
    await chat.sendMessage({ text: 'And now?' });
    expect(chat.error).toBeUndefined();
    expect(reply()).toContain('And now?');
  });

  it('a reply that its page has stopped before it is followed ends before the next', async () => {
    // The end of the stop waits for the request.
    const { chat, requests, reply } = open({ before: { status: (of) => void of.stop() } });
    await chat.sendMessage(toScript(ENDLESS));
    await chat.sendMessage({ text: 'And now?' });
    expect(reply()).toContain('And now?');
    expect(requests.slice(2)).toEqual(['status', 'interrupt', 'sse', 'start', 'status', 'sse']);
  });

  it.each([
    ['start', (chat: Opened['chat']) => chat.sendMessage({ text: 'And now?' })],
    ['resume', (chat: Opened['chat']) => chat.regenerate()],
  ])(
    'a reply that its page has stopped ends when the page begins another: %s',
    async (path, ask) => {
      const { chat, requests, reply } = open();
      void chat.sendMessage(toScript(ENDLESS));
      await until('the reply begins', () => reply() !== '');
      await chat.stop();
      const [before] = chat.messages;
      void ask(chat);
      const isFollowed = (): boolean => requests.filter((sent) => sent === 'sse').length === 3;
      await until('another reply begins', () => isFollowed() && reply() !== '');
      expect(chat.messages[0]).toEqual(before);
      expect(requests.slice(3)).toEqual(['status', 'interrupt', 'sse', path, 'status', 'sse']);
      expect(chat.error).toBeUndefined();
      await chat.stop();
    },
  );

  it.each([
    ['since the stop', false, ['status', 'start']],
    ['before the interrupt arrives', true, ['status', 'interrupt', 'start']],
  ])('a message ends no reply that another page has begun %s', async (_, isLate, sent) => {
    const beginAnother = async ({ id: sessionId }: { id: string }): Promise<void> => {
      await post('interrupt', { sessionId });
      const message = JSON.stringify({ script: [ENDLESS] });
      const begin = () => post('start', { sessionId, message });
      await until('another has begun', async () => (await begin()).ok);
    };
    const before: Before = isLate ? { interrupt: beginAnother } : {};
    const { chat, requests, reply } = open({ before });
    void chat.sendMessage(toScript(ENDLESS));
    await until('the reply begins', () => reply() !== '');
    await chat.stop();
    if (!isLate) await beginAnother(chat);
    await chat.sendMessage({ text: 'And now?' });
    expect(chat.error).toMatchObject({ code: 'agent_already_running' });
    expect(requests.slice(3)).toEqual(sent);
  });

  it('a refused message keeps no later one back', async () => {
    const { chat, reply } = open();
    const file = {
      type: 'file',
      mediaType: 'image/png',
      url: 'https://elsewhere.test/a.png',
    } as const;
    await chat.sendMessage({ parts: [file] });
    expect(chat.error).toMatchObject({ code: 'validation_error' });
    await chat.sendMessage({ text: 'And now?' });
    expect(chat.error).toBeUndefined();
    expect(reply()).toContain('And now?');
    // A message that no server has refused yet keeps none back either.
    chat.messages = [...chat.messages, { id: 'lost', role: 'user', parts: [file] }];
    await chat.sendMessage({ text: 'Really?' });
    expect(chat.error).toBeUndefined();
    expect(reply()).toContain('Really?');
  });

  it("a chat on the agent server sends the page's own parts", async () => {
    const opened = open();
    const place = { type: 'data-place', id: 'p1', data: { at: [1, null] } } as const;
    const parts = [{ type: 'text', text: 'Here' }, place, { type: 'text', text: '?' }] as const;
    const empty = { type: 'data-draft', data: undefined } as const;
    await opened.chat.sendMessage({ parts: [...parts, empty] });
    expect(opened.chat.error).toBeUndefined();
    const [sent, ...rest] = opened.chat.messages;
    expect(sent?.parts).toEqual([...parts, empty]);
    if (sent === undefined) throw new Error('unreachable');
    // A part without data is not stored.
    opened.chat.messages = [{ ...sent, parts: [...parts] }, ...rest];
    await expectStored(opened);
  });

  it('a repeated turn whose message never arrived sends it', async () => {
    const opened = open();
    const { chat } = opened;
    chat.messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
    await chat.regenerate();
    expect(chat.messages).toHaveLength(2);
    await chat.sendMessage({ text: 'And now?' });
    chat.messages = [
      ...chat.messages,
      { id: 'u3', role: 'user', parts: [{ type: 'text', text: 'Hey' }] },
    ];
    await chat.regenerate();
    expect(chat.messages).toHaveLength(6);
    await expectStored(opened);
  });
});
