import type { UIMessage } from 'ai';
import {
  createHelixChatTransport,
  createHelixSendAutomaticallyWhen,
} from '../../../ai-sdk/client/index.js';
import { callsOf, CLIENT_7, loadSnapshot, textOf, toScript } from '../../support/chat-client.js';
import { toComparable } from '../../support/compare-messages.js';
import { useLocalProduct } from '../../support/local-product.js';
import { newSessionId } from '../../support/product.js';
import { until } from '../../support/until.js';

const product = useLocalProduct();

const slow = { say: 'one two three four five six seven', deltas: 14, everyMs: 100 };

describe('a chat on the agent server', () => {
  const { Chat } = CLIENT_7;

  function open(options: { sessionId?: string; messages?: UIMessage[] } = {}) {
    const { sessionId = newSessionId(), messages = [] } = options;
    const requests: string[] = [];
    const chat = new Chat<UIMessage>({
      id: sessionId,
      messages,
      sendAutomaticallyWhen: createHelixSendAutomaticallyWhen(),
      transport: createHelixChatTransport({
        endpoint: `${product.url}/api/agent`,
        agentType: 'lab',
        fetch: (input, init) => {
          const path = new URL(input as string).pathname.replace('/api/agent/', '');
          requests.push(path);
          return fetch(input, init);
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
