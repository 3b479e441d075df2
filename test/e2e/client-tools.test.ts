import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
} from '../support/chat-client.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const locate = (id: string): object => ({ tool: 'locate', id, args: { question: 'where?' } });

const product = useProduct();

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await postJson(`${product.url}/api/${path}`, body);
  return { status: response.status, body: await response.json() };
}

describe('answers given elsewhere', () => {
  it('an answer given elsewhere continues a run without an open chat, and an edited input is checked and shown', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [charge('c1', 50), locate('c2')] }));
    await untilAsked(client);
    const inbox = await fetch(`${url}/api/sessions/${sessionId}/pending`);
    expect(await inbox.json()).toMatchObject({
      pending: [
        { toolCallId: 'c1', kind: 'approval' },
        { toolCallId: 'c2', kind: 'client' },
      ],
    });
    const at = `chat/${sessionId}/pending`;
    const codeOf = async (path: string, body: object): Promise<unknown> => {
      const reply = await post(path, body);
      return [reply.status, (reply.body as { code?: string }).code];
    };
    expect(await codeOf(`${at}/c1`, { approved: true, input: { amount: 'x' } })).toEqual([
      400,
      'invalid_input',
    ]);
    expect(await codeOf(`${at}/c1`, { result: 1 })).toEqual([400, 'kind_mismatch']);
    expect(await codeOf(`${at}/c1`, {})).toEqual([400, 'validation_error']);
    expect(await codeOf(`${at}/c9`, { result: 1 })).toEqual([409, 'not_pending']);
    expect(await codeOf(`${at}/c2/extend`, { byMs: 5 })).toEqual([409, 'no_deadline']);
    expect(await codeOf(`chat/${newSessionId()}/pending/c1`, { approved: true })).toEqual([
      404,
      'not_found',
    ]);
    expect(await post(`${at}/c1`, { approved: true, input: { amount: 30 } })).toMatchObject({
      status: 202,
      body: { resumed: false },
    });
    expect(await post(`${at}/c2`, { result: 'here' })).toMatchObject({
      status: 202,
      body: { resumed: true },
    });
    expect(await codeOf(`${at}/c2`, { result: 'there' })).toEqual([409, 'already_completed']);
    const done = await until('the run ends', async () => {
      const snapshot = await loadSnapshot(url, sessionId);
      return snapshot.run?.status === 'completed' ? snapshot : undefined;
    });
    expect(callsOf(done.messages.at(-1))).toMatchObject([
      {
        input: { amount: 50 },
        output: { charged: 30 },
        approval: { approved: true, input: { amount: 30 }, by: 'anonymous' },
      },
      { output: 'here' },
    ]);
  });
});
