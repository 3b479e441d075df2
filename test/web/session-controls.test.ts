import type { SessionEvent } from '../../protocol/replies.js';
import { eventually } from './eventually.js';
import { atRest, openConversation, shown } from './open-conversation.js';
import { refusal, reply, said, snapshot, spoken, Wire, WireServer } from './wire-server.js';

const taken = () => new Response(': waiting\n\n');
const first = [said('u1', 'Hello'), said('msg-1', 'Hi', 'assistant')];

it('a message sent during a reply is posted beside it, and followed when its turn begins', async () => {
  const running = new Wire({ 'x-run-id': 's1:1-ab' }).send(...spoken('msg-1', 'Hi', false));
  const next = new Wire().send(...spoken('msg-3', 'Two here')).end();
  const events = new Wire().send(standing(3, queued('u2', 'Two')));
  const server = new WireServer()
    .on('POST', reply(running), taken)
    .on('GET events', reply(events))
    .on('GET queue', () => Response.json({ queue: queued('u2', 'Two') }))
    .on('GET snapshot', reply(snapshot('active', [...first, said('u2', 'Two')], 9)))
    .on('GET stream', reply(next));
  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => conversation.chat.status === 'streaming');
  conversation.send('Two');
  await eventually(() => conversation.page.get().queue.length === 1);
  expect(server.named('POST')[1]?.body).toMatchObject({ busy: 'queue' });
  expect(server.named('POST')[1]?.body.messages).toHaveLength(1);
  events.send(standing(9, []));
  running.send({ type: 'finish', finishReason: 'stop' }).end();
  await eventually(() => shown(conversation).includes('assistant: Two here'));
  await atRest(conversation);
  expect(shown(conversation)).toHaveLength(4);
  expect(conversation.page.get().queue).toEqual([]);
  events.end();
});

it('a message sent during a reply goes back to the composer when the server declines it', async () => {
  const running = new Wire().send(...spoken('msg-1', 'Hi', false));
  const server = new WireServer().on('POST', reply(running), () =>
    Response.json({ error: 'too many', code: 'queue_full' }, { status: 429 }),
  );
  const conversation = await openConversation(server);
  conversation.send('Hello');
  await eventually(() => conversation.chat.status === 'streaming');
  conversation.send('Two');
  conversation.page.set({ draft: 'Three' });
  await eventually(() => conversation.page.get().draft === 'Two\nThree');
  expect(conversation.page.get().notice?.text).toBe('too many');
  running.send({ type: 'finish', finishReason: 'stop' }).end();
  await atRest(conversation);
});

it('a message that waits no more when it is changed is shown with its reply', async () => {
  const server = new WireServer()
    .on('PATCH queue', refusal(404, 'not_found'))
    .on('GET snapshot', reply(snapshot('ended', first)));
  const conversation = await openConversation(server, snapshot('ended', first.slice(0, 1)));
  await conversation.controls.editQueued('u1', 'Hello again');
  await eventually(() => shown(conversation).includes('assistant: Hi'));
  expect(conversation.page.get().notice?.text).toContain('refused');
});

function queued(id: string, text: string) {
  return [{ id, mode: 'queue' as const, messages: [said(id, text)], queuedAt: 0 }];
}

/** Returns the server's event of an active conversation. */
function standing(sequence: number, queue: ReturnType<typeof queued>): SessionEvent {
  return {
    sessionId: 's1',
    sequence,
    status: 'active',
    run: { runId: 's1:1-ab', status: 'running' },
    turn: 1,
    messageId: 'msg-1',
    pending: [],
    queue,
  };
}
