import { ServerResponse } from 'node:http';
import type { FrontendSnapshot as OfApi } from '../../api/index.js';
import { loadSnapshot, type FrontendSnapshot as OfClient } from '../../ai-sdk/client/index.js';
import type { FrontendSnapshot as OfBridge, UIMessage } from '../../ai-sdk/index.js';
import type { FrontendSnapshot as OfRoot } from '../../index.js';
import type { FrontendSnapshot as OfProtocol } from '../../protocol/index.js';
import { ANONYMOUS } from '../../protocol/ids.js';
import { drive, userMessage } from '../support/session-driver.js';
import { greets, say, startApi, type ApiServer } from './api-server.js';

let api: ApiServer;

interface State {
  notes: string[];
}

/** Assignable in both directions; compiled, not run. */
type Same<A, B> = [A, B] extends [B, A] ? true : never;

it('Every entry exports the same type FrontendSnapshot<State, Message>.', () => {
  const same: [
    Same<OfApi<State>, OfProtocol<State, UIMessage>>,
    Same<OfBridge<State>, OfProtocol<State, UIMessage>>,
    Same<OfClient<State>, OfProtocol<State, UIMessage>>,
    Same<OfRoot<State, UIMessage>, OfProtocol<State, UIMessage>>,
    Same<OfApi, OfBridge>,
    Same<OfProtocol<State, UIMessage>['state'], State | null>,
    Same<OfBridge<State>['messages'], UIMessage[]>,
  ] = [true, true, true, true, true, true, true];
  expect(same).not.toContain(false);
});

it('loadSnapshot gives an empty snapshot for a chat that has not begun, in the same shape as others.', async () => {
  let runs = 0;
  const play: typeof greets = (...turn) => {
    runs += 1;
    return greets(...turn);
  };
  api = await startApi({ play, defaultAgent: 'lab' });
  const options = { api: `${api.url}/api/chat` };
  expect(await loadSnapshot('new', options)).toEqual({
    state: null,
    messages: [],
    streamSequence: 0,
    status: 'ended',
    checkpointId: null,
    timestamp: expect.any(Number),
    pending: [],
    queue: [],
  });
  // It only read: the chat begins with its first message.
  expect(runs).toBe(0);
  const posted = await api.post('/api/chat/new', { messages: [say('u1', 'hi')] });
  await posted.text();
  const begun = await loadSnapshot('new', options);
  expect(begun).toMatchObject({ status: 'ended', messages: [{ id: 'u1' }, { role: 'assistant' }] });
});

it('loadSnapshot does not take a refusal for a new chat.', async () => {
  api = await startApi({ authenticate: () => undefined });
  const loading = loadSnapshot('mine', { api: `${api.url}/api/chat` });
  await expect(loading).rejects.toMatchObject({ statusCode: 401, code: 'unauthorized' });
});

it('Large messages are written in pieces, and arrive whole.', async () => {
  api = await startApi();
  const texts = Array.from({ length: 4 }, (_, n) => String(n) + '"é\n'.repeat(40_000));
  const messages = texts.map((text, n) => userMessage(`u${String(n)}`, text));
  await drive(api.stores, 'large').begin({ owner: ANONYMOUS, messages });
  const writes = jest.spyOn(ServerResponse.prototype, 'write');
  for (const path of ['snapshot', 'messages']) {
    writes.mockClear();
    const response = await api.get(`/api/chat/large/${path}`);
    const text = await response.text();
    const reply = JSON.parse(text) as { messages: UIMessage[] };
    expect(reply.messages.map(({ parts }) => parts)).toEqual(
      texts.map((each) => [{ type: 'text', text: each }]),
    );
    expect(JSON.stringify(reply)).toBe(text);
    expect(writes.mock.calls.length).toBeGreaterThan(1);
  }
});
