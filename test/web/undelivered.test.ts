import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import { eventually } from './eventually.js';
import { atRest, openConversation, shown, taken } from './open-conversation.js';
import {
  refusal,
  reply,
  snapshot,
  spoken,
  unreachable,
  Wire,
  WireServer,
  type SeenRequest,
} from './wire-server.js';

const HELLO: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

describe('a message that may not have arrived', () => {
  it('is sent again automatically, under the same id, if a dead server never accepted it', async () => {
    const server = new WireServer()
      .on('POST', unreachable, reply(new Wire().send(...spoken('msg-1', 'Hi')).end()))
      .on('GET snapshot', unreachable, refusal(404, 'not_found'));
    const conversation = openConversation(server);
    conversation.send('Hello');
    await eventually(() => shown(conversation).includes('assistant: Hi'));
    await atRest(conversation);

    const [first, second] = server.named('POST').map(({ body }: SeenRequest) => body);
    expect(second?.messages).toEqual(first?.messages);
    // The id of a user message in `messageId` would ask for an edit.
    expect(second?.messageId).toBeUndefined();
    expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Hi']);
    expect(conversation.page.get().notice).toBeUndefined();
  });

  it('is offered for a retry if an unavailable server did not take it', async () => {
    const server = new WireServer()
      .on('POST', refusal(503, 'unavailable'))
      .on('GET snapshot', refusal(404, 'not_found'));
    const conversation = openConversation(server);
    conversation.send('Hello');
    await eventually(() => server.named('GET snapshot').length === 1);
    await atRest(conversation);
    expect(conversation.page.get().notice).toMatchObject({ retry: true });
    expect(shown(conversation)).toEqual(['user: Hello']);

    server.on('POST', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
    conversation.retry();
    await eventually(() => shown(conversation).length === 2);
    const [first, second] = server.named('POST').map(({ body }: SeenRequest) => body);
    expect(second?.messages).toEqual(first?.messages);
    expect(conversation.page.get().notice).toBeUndefined();
  });

  it('is followed if an unavailable server had taken it after all', async () => {
    const server: WireServer = new WireServer()
      .on('POST', refusal(503, 'unavailable'))
      .on('GET snapshot', () => Response.json(snapshot('active', taken(server))))
      .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
    const conversation = openConversation(server);
    conversation.send('Hello');
    await eventually(() => shown(conversation).includes('assistant: Hi'));
    await atRest(conversation);
    expect(conversation.page.get().notice).toBeUndefined();
    expect(server.named('POST')).toHaveLength(1);
  });

  it('goes back to the composer if it is refused, and the page shows the conversation', async () => {
    const server = new WireServer()
      .on('POST', refusal(409, 'agent_already_running'))
      .on('GET snapshot', reply(snapshot('active', [HELLO])))
      .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
    const conversation = openConversation(server, snapshot('ended', []));
    conversation.send('Mine');
    await eventually(() => shown(conversation).includes('assistant: Hi'));
    await atRest(conversation);
    expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Hi']);
    expect(conversation.page.get()).toMatchObject({ draft: 'Mine', notice: { retry: false } });
  });
});
