import { eventually } from './eventually.js';
import { atRest, openConversation, shown, taken } from './open-conversation.js';
import {
  refusal,
  reply,
  said,
  snapshot,
  spoken,
  unreachable,
  Wire,
  WireServer,
  type SeenRequest,
} from './wire-server.js';

const HELLO = said('u1', 'Hello');

it('a message that may not have arrived is sent again under the same id, until an unreachable or unavailable server takes it', async () => {
  const server = new WireServer().on(
    'POST',
    unreachable,
    refusal(503, 'unavailable'),
    reply(new Wire().send(...spoken('msg-1', 'Hi')).end()),
  );
  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => shown(conversation).includes('assistant: Hi'));
  await atRest(conversation);

  const [first, second, third] = server.named('POST').map(({ body }: SeenRequest) => body);
  expect([second?.messages, third?.messages]).toEqual([first?.messages, first?.messages]);
  // A user message's id in `messageId` would ask for an edit.
  expect(third?.messageId).toBeUndefined();
  expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Hi']);
  expect(conversation.page.get().notice).toBeUndefined();
});

it('a message that may not have arrived is offered for a retry when the page has given up', async () => {
  const server = new WireServer().on('POST', refusal(503, 'unavailable'));
  const conversation = await openConversation(server, undefined, { giveUpAfterMs: 0 });
  conversation.send('Hello');
  await eventually(() => conversation.page.get().notice?.retry === true);
  await eventually(() => shown(conversation).includes('user: Hello'));

  server.on('POST', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
  conversation.retry();
  await eventually(() => shown(conversation).length === 2);
  const [first, second] = server.named('POST').map(({ body }: SeenRequest) => body);
  expect(second?.messages).toEqual(first?.messages);
  expect(conversation.page.get().notice).toBeUndefined();
});

it('a refused message goes back to the composer, and the page shows the conversation', async () => {
  const server = new WireServer()
    .on('POST', refusal(409, 'agent_already_running'))
    .on('GET snapshot', reply(snapshot('active', [HELLO])))
    .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
  const conversation = await openConversation(server, snapshot('ended', []));
  conversation.send('Mine');
  await eventually(() => shown(conversation).includes('assistant: Hi'));
  await atRest(conversation);
  expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Hi']);
  expect(conversation.page.get()).toMatchObject({ draft: 'Mine', notice: { retry: false } });
});

it('a message that the page has not shown yet goes back to the composer if it is refused', async () => {
  const server = new WireServer()
    .on('POST', refusal(409, 'agent_already_running'))
    .on('GET snapshot', reply(snapshot('active', [HELLO])))
    .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
  const conversation = await openConversation(server, snapshot('ended', []));
  // The server may refuse the message before React renders it.
  const before = conversation.chat;
  Object.defineProperty(conversation, 'chat', {
    get: () => before,
    set: () => {
      // The next render never arrives.
    },
  });
  conversation.send('Mine');
  await eventually(() => conversation.page.get().draft === 'Mine');
});

it('a message that arrived is not given back into the composer if a repetition is refused', async () => {
  const server: WireServer = new WireServer()
    .on('POST', unreachable, refusal(409, 'agent_already_running'))
    .on('GET snapshot', () => Response.json(snapshot('active', taken(server))))
    .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
  const conversation = await openConversation(server, snapshot('ended', []));
  conversation.send('Mine');
  await eventually(() => shown(conversation).includes('assistant: Hi'));
  await atRest(conversation);
  expect(server.named('POST')).toHaveLength(2);
  expect(shown(conversation)).toEqual(['user: Mine', 'assistant: Hi']);
  expect(conversation.page.get().draft).toBe('');
});
