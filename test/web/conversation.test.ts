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
} from './wire-server.js';

const HELLO = said('u1', 'Hello');

it('a conversation names its agent on first contact only, and reads the run from the reply', async () => {
  const first = new Wire({ 'x-run-id': 's1:1-ab' }).send(...spoken('msg-1', 'Hi')).end();
  const server = new WireServer().on('POST', reply(first));
  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => shown(conversation).length === 2);
  await atRest(conversation);
  expect(server.named('POST')[0]?.body.agent).toBe('lab');
  expect(conversation.page.get().runId).toBe('s1:1-ab');

  const bound = new WireServer().on('POST', reply(new Wire().send(...spoken('m', 'x')).end()));
  const known = await openConversation(bound, snapshot('ended', [HELLO]));
  known.send('More');
  await eventually(() => shown(known).length === 3);
  expect(bound.named('POST')[0]?.body.agent).toBeUndefined();
});

it('a conversation knows what its run waits for while the server says so', async () => {
  const run = { runId: 's1:1-ab', status: 'running' } as const;
  const held = {
    ...snapshot('ended', [HELLO]),
    run: { ...run, waitingFor: 'provider' as const },
  };
  const conversation = await openConversation(new WireServer(), held);
  expect(conversation.page.get().waitingFor).toBe('provider');
  conversation.chatOptions.onSessionEvent?.({
    sessionId: 's1',
    sequence: 8,
    status: 'ended',
    turn: 1,
    messageId: 'msg-1',
    run,
    pending: [],
    queue: [],
  });
  expect(conversation.page.get().waitingFor).toBeUndefined();
});

it('a conversation shows a reply once that was cut in the middle, twice', async () => {
  const first = new Wire().send(...spoken('msg-1', 'Half a ', false));
  const second = new Wire().send(...spoken('msg-1', 'Half a reply is ', false));
  const third = new Wire().send(...spoken('msg-1', 'Half a reply is no reply.')).end();
  const server = new WireServer().on('POST', reply(first));
  const look = (): Response => Response.json(snapshot('active', taken(server), 42));
  server.on('GET snapshot', unreachable, refusal(503, 'unavailable'), look, look);
  server.on('GET stream', reply(second), reply(third));

  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => shown(conversation).includes('assistant: Half a '));
  first.cut();
  await eventually(() => shown(conversation).includes('assistant: Half a reply is '));
  second.cut();
  await eventually(() => shown(conversation).includes('assistant: Half a reply is no reply.'));
  await atRest(conversation);

  expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Half a reply is no reply.']);
  expect(server.named('POST')).toHaveLength(1);
  expect(server.named('GET stream')[0]?.headers.get('x-resume-from-sequence')).toBe('42');
});

it.each([
  ['ends without a finish', '', false],
  ['turns to garbage', '\u0000\n\n<html>data: {"type":', false],
  ['has garbage between two parts', 'data: <html>\n\n', true],
])('a conversation does not take a response that %s for complete', async (_, rest, asks) => {
  const half = new Wire().send(...spoken('msg-1', 'Half', false)).sendText(rest);
  const server = new WireServer().on('POST', reply(half.end()));
  const whole = said('msg-1', 'Half and half', 'assistant');
  server.on('GET snapshot', () => Response.json(snapshot('ended', [...taken(server), whole])));
  const conversation = await openConversation(server);
  conversation.send('Hello');
  if (asks) {
    await eventually(() => conversation.page.get().notice?.retry === true);
    conversation.retry();
  }
  await eventually(() => shown(conversation).includes('assistant: Half and half'));
  await atRest(conversation);
  expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Half and half']);
});

it('a conversation shows why a reply failed, and does not request it again', async () => {
  const failing = new Wire().send(...spoken('msg-1', 'Half', false), {
    type: 'error',
    errorText: 'the model is gone',
  });
  const server = new WireServer().on('POST', reply(failing));
  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => conversation.page.get().notice !== undefined);
  await atRest(conversation);
  expect(conversation.page.get().notice?.text).toContain('the model is gone');
  expect(server.named('POST')).toHaveLength(1);
});
