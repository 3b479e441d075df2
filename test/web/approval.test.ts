import type { UIMessage } from 'ai';
import type { Conversation } from '../../web/src/conversation.js';
import { eventually } from './eventually.js';
import { atRest, openConversation } from './open-conversation.js';
import { refusal, reply, said, snapshot, unreachable, Wire, WireServer } from './wire-server.js';

const ASK = said('u1', 'Charge me');

const asked = (id: string): UIMessage['parts'][number] => ({
  type: 'dynamic-tool',
  toolName: 'charge',
  toolCallId: id,
  state: 'approval-requested',
  input: { amount: 5 },
  approval: { id: `a-${id}` },
});

const waiting = (...ids: string[]) =>
  snapshot('paused', [ASK, { id: 'msg-1', role: 'assistant', parts: ids.map(asked) }]);

const charged = (id: string): Wire =>
  new Wire()
    .send(
      { type: 'start', messageId: 'msg-1' },
      { type: 'tool-output-available', toolCallId: id, output: 'ok', dynamic: true },
      { type: 'start-step' },
      { type: 'message-metadata', messageMetadata: {} },
      { type: 'finish', finishReason: 'stop' },
    )
    .end();

const states = ({ chat }: Conversation): string[] =>
  (chat.messages.at(-1)?.parts ?? []).flatMap((part) =>
    'state' in part ? [String(part.state)] : [],
  );

const shownCall = ({ chat }: Conversation): unknown =>
  chat.messages.at(-1)?.parts.map((part) => 'toolCallId' in part && part.toolCallId)[0];

it('the page posts an answer to an approval without another click, and the message continues', async () => {
  const server = new WireServer().on('POST', reply(charged('c1')));
  const conversation = await openConversation(server, waiting('c1'));
  conversation.answer('a-c1', true);
  await eventually(() => states(conversation).includes('output-available'));
  await atRest(conversation);
  expect(conversation.chat.messages).toHaveLength(2);
  expect(server.named('POST')).toHaveLength(1);
  expect(server.named('POST')[0]?.body.messageId).toBe('msg-1');
});

it('the page posts an answer again when the server dies during the request', async () => {
  const server = new WireServer().on('POST', unreachable, reply(charged('c1')));
  const conversation = await openConversation(server, waiting('c1'));
  conversation.answer('a-c1', false, 'too much');
  await eventually(() => states(conversation).includes('output-available'));
  const [first, second] = server.named('POST').map(({ body }) => body);
  expect(second?.messages).toEqual(first?.messages);
  expect(second?.messages.at(-1)?.parts).toEqual([
    expect.objectContaining({ approval: { id: 'a-c1', approved: false, reason: 'too much' } }),
  ]);
});

it("an answer waits for a person's retry when the page has given up on an unavailable server", async () => {
  const server = new WireServer().on('POST', refusal(503, 'unavailable'), reply(charged('c1')));
  const conversation = await openConversation(server, waiting('c1'), { giveUpAfterMs: 0 });
  conversation.answer('a-c1', true);
  await eventually(() => conversation.page.get().notice?.retry === true);
  await eventually(() => conversation.chat.error !== undefined);
  expect(states(conversation)).toEqual(['approval-responded']);
  conversation.retry();
  await eventually(() => states(conversation).includes('output-available'));
  expect(conversation.page.get().notice).toBeUndefined();
});

it("a late answer gives way to the server's own record", async () => {
  const server = new WireServer()
    .on('POST', refusal(409, 'client_out_of_step'))
    .on('GET snapshot', reply(waiting('c2')));
  const conversation = await openConversation(server, waiting('c1'));
  conversation.answer('a-c1', true);
  await eventually(() => server.named('GET snapshot').length === 1);
  await atRest(conversation);
  await eventually(() => shownCall(conversation) === 'c2');
  expect(states(conversation)).toEqual(['approval-requested']);
  expect(server.named('POST')).toHaveLength(1);
});

it('the page asks for an answer again when the server declined it', async () => {
  const server = new WireServer()
    .on('POST', refusal(400, 'kind_mismatch'))
    .on('GET snapshot', reply(waiting('c1')));
  const conversation = await openConversation(server, waiting('c1'));
  conversation.answer('a-c1', true);
  await eventually(() => server.named('GET snapshot').length === 1);
  await atRest(conversation);
  await eventually(() => states(conversation).join() === 'approval-requested');
  expect(conversation.page.get().notice).toMatchObject({ retry: false });
});

it('an answer survives a refresh while another question is open', async () => {
  const server = new WireServer().on('GET snapshot', reply(waiting('c1', 'c2')));
  const conversation = await openConversation(server, waiting('c1', 'c2'));
  conversation.answer('a-c1', true);
  await eventually(() => states(conversation).includes('approval-responded'));
  await conversation.refresh();
  expect(states(conversation)).toEqual(['approval-responded', 'approval-requested']);
  expect(server.named('POST')).toHaveLength(0);
});

const call = { toolCallId: 'c1', approvalId: 'a-c1', inputHash: 'h' };
const input = { amount: 4 };
it.each<[string, (page: Conversation['controls']) => Promise<boolean>, object]>([
  [
    'the withdrawal of an approval',
    (page) => page.withdraw({ ...call, kind: 'approval' }, 'too late'),
    { approved: false, reason: 'too late' },
  ],
  [
    'the withdrawal of a question',
    (page) => page.withdraw({ ...call, kind: 'client' }, 'too late'),
    { error: 'too late' },
  ],
  [
    'the approval of a changed input',
    (page) => page.approveChanged(call, input, 'a discount'),
    { approved: true, input, reason: 'a discount' },
  ],
])('a reason that a person typed reaches the server with %s', async (_, act, answer) => {
  const server = new WireServer().on('POST', () => Response.json({}));
  const conversation = await openConversation(server, waiting('c1'));
  expect(await act(conversation.controls)).toBe(true);
  const { approvalId, inputHash } = call;
  expect(server.named('POST')[0]?.body).toEqual({ ...answer, approvalId, inputHash });
});

describe('a look of an idle page', () => {
  it('a refresh of an idle page shows what another window did', async () => {
    const done = snapshot('ended', [ASK, { id: 'msg-1', role: 'assistant', parts: [] }]);
    const server = new WireServer().on('GET snapshot', reply(done));
    const conversation = await openConversation(server, snapshot('ended', [ASK]));
    await conversation.refresh();
    await eventually(() => conversation.chat.messages.length === 2);
  });

  it('a refresh changes nothing when the server cannot be reached', async () => {
    const server = new WireServer().on('GET snapshot', unreachable);
    const conversation = await openConversation(server, waiting('c1'), { giveUpAfterMs: 0 });
    await conversation.refresh();
    expect(conversation.chat.messages).toHaveLength(2);
    expect(conversation.page.get()).toMatchObject({ notice: undefined, reconnecting: false });
  });
});
