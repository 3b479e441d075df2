import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import { Conversation } from '../../web/src/conversation.js';
import { textOf } from '../../web/src/reconcile.js';
import { eventually } from './eventually.js';
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

function open(server: WireServer, start?: ReturnType<typeof snapshot>): Conversation {
  return new Conversation({
    sessionId: 's1',
    agent: 'lab',
    snapshot: start,
    send: server.send,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

async function atRest(conversation: Conversation): Promise<void> {
  await eventually(
    () =>
      conversation.chat.status !== 'submitted' &&
      conversation.chat.status !== 'streaming' &&
      !conversation.page.get().reconnecting,
  );
}

const shown = ({ chat }: Conversation): string[] =>
  chat.messages.map((message) => `${message.role}: ${textOf(message)}`);

/** The server's record of what was posted: the message and nothing else yet. */
const taken = (server: WireServer): UIMessage[] => server.named('POST')[0]?.body.messages ?? [];

describe('a conversation', () => {
  it('names its agent on first contact only, and reads the run from the reply', async () => {
    const first = new Wire({ 'x-run-id': 's1:1-ab' }).send(...spoken('msg-1', 'Hi')).end();
    const server = new WireServer().on('POST', reply(first));
    const conversation = open(server);
    conversation.send('Hello');
    await eventually(() => shown(conversation).length === 2);
    await atRest(conversation);
    expect(server.named('POST')[0]?.body.agent).toBe('lab');
    expect(conversation.page.get().runId).toBe('s1:1-ab');

    const bound = new WireServer().on('POST', reply(new Wire().send(...spoken('m', 'x')).end()));
    const known = open(bound, snapshot('ended', [HELLO]));
    known.send('More');
    await eventually(() => shown(known).length === 3);
    expect(bound.named('POST')[0]?.body.agent).toBeUndefined();
  });

  it('shows a reply once that was cut in the middle, twice', async () => {
    const first = new Wire().send(...spoken('msg-1', 'Half a ', false));
    const second = new Wire().send(...spoken('msg-1', 'Half a reply is ', false));
    const third = new Wire().send(...spoken('msg-1', 'Half a reply is no reply.')).end();
    const server = new WireServer().on('POST', reply(first));
    const look = (): Response => Response.json(snapshot('active', taken(server), 42));
    server.on('GET snapshot', unreachable, refusal(503, 'unavailable'), look, look);
    server.on('GET stream', reply(second), reply(third));

    const conversation = open(server);
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

  it('does not take a response for whole that ends without its finish', async () => {
    const server = new WireServer().on(
      'POST',
      reply(new Wire().send(...spoken('msg-1', 'Half', false)).end()),
    );
    const whole: UIMessage = {
      id: 'msg-1',
      role: 'assistant',
      parts: [{ type: 'text', text: 'Half and half' }],
    };
    server.on('GET snapshot', () => Response.json(snapshot('ended', [...taken(server), whole])));
    const conversation = open(server);
    conversation.send('Hello');
    await eventually(() => server.named('GET snapshot').length === 1);
    await atRest(conversation);
    expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Half and half']);
  });

  it('sends again by itself what a dead server never took, under the same id', async () => {
    const server = new WireServer()
      .on('POST', unreachable, reply(new Wire().send(...spoken('msg-1', 'Hi')).end()))
      .on('GET snapshot', unreachable, refusal(404, 'not_found'));
    const conversation = open(server);
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

  it('offers a retry for what an unavailable server did not take', async () => {
    const server = new WireServer()
      .on('POST', refusal(503, 'unavailable'))
      .on('GET snapshot', refusal(404, 'not_found'));
    const conversation = open(server);
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

  it('follows what an unavailable server had taken after all', async () => {
    const server: WireServer = new WireServer()
      .on('POST', refusal(503, 'unavailable'))
      .on('GET snapshot', () => Response.json(snapshot('active', taken(server))))
      .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
    const conversation = open(server);
    conversation.send('Hello');
    await eventually(() => shown(conversation).includes('assistant: Hi'));
    await atRest(conversation);
    expect(conversation.page.get().notice).toBeUndefined();
    expect(server.named('POST')).toHaveLength(1);
  });

  it('gives the text of a refused message back and shows where the conversation is', async () => {
    const server = new WireServer()
      .on('POST', refusal(409, 'agent_already_running'))
      .on('GET snapshot', reply(snapshot('active', [HELLO])))
      .on('GET stream', reply(new Wire().send(...spoken('msg-1', 'Hi')).end()));
    const conversation = open(server, snapshot('ended', []));
    conversation.send('Mine');
    await eventually(() => shown(conversation).includes('assistant: Hi'));
    await atRest(conversation);
    expect(shown(conversation)).toEqual(['user: Hello', 'assistant: Hi']);
    expect(conversation.page.get()).toMatchObject({ draft: 'Mine', notice: { retry: false } });
  });

  it('tells of a reply that failed, and does not ask for it again', async () => {
    const failing = new Wire().send(...spoken('msg-1', 'Half', false), {
      type: 'error',
      errorText: 'the model is gone',
    });
    const server = new WireServer().on('POST', reply(failing));
    const conversation = open(server);
    conversation.send('Hello');
    await eventually(() => conversation.page.get().notice !== undefined);
    await atRest(conversation);
    expect(conversation.page.get().notice?.text).toContain('the model is gone');
    expect(server.seen).toHaveLength(1);
  });
});
