import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import {
  createHelixSendAutomaticallyWhen,
  createResumableChatTransport,
} from '../../ai-sdk/client/index.js';
import { callsOf, CLIENTS, loadSnapshot, textOf, toScript } from '../support/chat-client.js';
import { toComparable } from '../support/compare-messages.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const product = useProduct();
const slow = { say: 'one two three four five six seven', deltas: 14, everyMs: 100 };

describe.each(CLIENTS)('%s: a chat over a wire that is cut', (_name, { Chat }) => {
  it('a chat over a connection that is cut shows the stored messages, before and after an approval, and posts each message once', async () => {
    const proxy = await startTcpProxy(Number(new URL(product.url).port));
    const sessionId = newSessionId();
    const requests: string[] = [];
    const changes: boolean[] = [];
    const chat = new Chat<UIMessage>({
      id: sessionId,
      sendAutomaticallyWhen: createHelixSendAutomaticallyWhen(),
      transport: createResumableChatTransport({
        api: `http://127.0.0.1:${String(proxy.port)}/api/chat`,
        body: { agent: 'lab' },
        retryDelayMs: () => 50,
        onConnectionChange: (isConnected) => changes.push(isConnected),
        fetch: (input, init) => {
          requests.push(init?.method ?? 'GET');
          return fetch(input, init);
        },
      }),
    });
    const reply = (): string => {
      const last = chat.messages.at(-1);
      return last?.role === 'assistant' ? textOf(last) : '';
    };
    const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
    const sent = chat.sendMessage(toScript({ ...slow, calls: [charge] }, slow));
    await until('it talks', () => reply().includes('two'));
    proxy.cut();
    await until('it talks on', () => reply().includes('four'));
    proxy.cut();
    await sent;
    const part = callsOf(chat.lastMessage).find(({ state }) => state === 'approval-requested');
    await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved: true });
    await until('it continues', () => reply().includes('sevenone'));
    proxy.cut();
    await until('the reply is complete', () => chat.status === 'ready');
    await proxy.close();
    expect(chat.error).toBeUndefined();
    expect(requests.filter((method) => method === 'POST')).toHaveLength(2);
    expect(requests.filter((method) => method === 'GET').length).toBeGreaterThanOrEqual(3);
    expect(changes).toEqual([false, true, false, true, false, true]);
    const { messages } = await loadSnapshot(product.url, sessionId);
    const shown = JSON.parse(JSON.stringify(chat.messages)) as UIMessage[];
    expect(toComparable(shown)).toEqual(toComparable(messages));
  });
});
