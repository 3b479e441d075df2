import { HttpAgent, type BaseEvent, type Message } from '@ag-ui/client';
import {
  connectAgUi,
  decide,
  locate,
  outcomeOf,
  remember,
  run,
  say,
  shown,
  silenceClient,
  spoken,
  typesOf,
} from '../../../support/ag-ui-client.js';
import { charge } from '../../../support/lab-calls.js';
import { useLocalProduct } from '../../../support/local-product.js';
import { newSessionId } from '../../../support/product.js';
import { until } from '../../../support/until.js';

const product = useLocalProduct();

silenceClient();

const connect = (threadId?: string, messages?: Message[]): HttpAgent =>
  connectAgUi(product.url, threadId, messages);

describe('the client of AG-UI', () => {
  it('gets reasoning, text, and calls with their results', async () => {
    const agent = connect();
    const call = { tool: 'echo', id: 'e1', args: { value: 1 }, argDeltas: 3 };
    say(agent, { think: 'Hm.', say: 'One.', calls: [call] }, { say: 'Two.', deltas: 3 });
    const events = await run(agent);
    expect(typesOf(events).filter((type) => !/^(STEP|STATE|CUSTOM)/.test(type))).toEqual([
      'RUN_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(outcomeOf(events)).toEqual({ type: 'success' });
    expect(shown(agent)).toEqual([
      ['reasoning', 'Hm.'],
      ['assistant', 'One.', 'echo'],
      ['tool', '{"value":1}'],
      ['assistant', 'Two.'],
    ]);
    // The next run sends the whole copy; only its end counts.
    say(agent, { say: 'Three.' });
    await run(agent);
    expect(shown(agent).at(-1)).toEqual(['assistant', 'Three.']);
  });

  it('answers calls of client tools by tool messages', async () => {
    const agent = connect();
    say(agent, { calls: [locate('c1'), locate('c2')] }, { quote: true });
    expect(outcomeOf(await run(agent))).toEqual({
      type: 'success',
      pendingToolCallIds: ['c1', 'c2'],
    });
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: '{"lat":1}' });
    expect(outcomeOf(await run(agent))).toEqual({ type: 'success', pendingToolCallIds: ['c2'] });
    agent.addMessage({ id: 't2', role: 'tool', toolCallId: 'c2', content: 'Berlin' });
    expect(outcomeOf(await run(agent))).toEqual({ type: 'success' });
    expect(agent.messages.at(-1)?.content).toContain('Berlin');
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });

  it.each([
    ['approved', { status: 'resolved', payload: { approved: true } }, '"charged":5'],
    ['denied', { status: 'resolved', payload: { approved: false } }, '"denied":true'],
    ['cancelled', { status: 'cancelled' }, '"denied":true'],
  ] as const)(
    'an approval interrupts the run, and is %s by the next',
    async (_, answer, result) => {
      const agent = connect();
      say(agent, { calls: [charge('c1', 5)] }, { say: 'Done.' });
      const outcome = outcomeOf(await run(agent));
      expect(outcome).toMatchObject({
        type: 'interrupt',
        interrupts: [{ toolCallId: 'c1', responseSchema: { required: ['approved'] } }],
      });
      const [interrupt] = agent.pendingInterrupts;
      const resume = [{ interruptId: interrupt?.id ?? '', ...answer }];
      expect(outcomeOf(await run(agent, { resume }))).toEqual({ type: 'success' });
      expect(agent.messages.find(({ role }) => role === 'tool')?.content).toContain(result);
      expect(agent.messages.at(-1)?.content).toBe('Done.');
    },
  );

  it('ends a reply that it has cut short by its next message', async () => {
    const threadId = newSessionId();
    const leave = new AbortController();
    const post = (messages: object[], signal?: AbortSignal): Promise<Response> =>
      fetch(`${product.url}/api/ag-ui/lab`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          threadId,
          runId: crypto.randomUUID(),
          messages,
          tools: [],
          context: [],
        }),
        ...(signal && { signal }),
      });
    const asks = (id: string, ...script: object[]) => ({
      id,
      role: 'user',
      content: JSON.stringify({ script }),
    });
    const long = asks('u1', { say: 'A long answer. '.repeat(20), deltas: 10, everyMs: 3_000 });
    const reply = await post([long], leave.signal);
    let text = '';
    for await (const piece of reply.body ?? []) {
      text += Buffer.from(piece).toString();
      if (text.includes('TEXT_MESSAGE_CONTENT')) break;
    }
    leave.abort();
    const [, id = ''] = /"TEXT_MESSAGE_START","messageId":"([^"]+)"/.exec(text) ?? [];
    const next = asks('u2', { say: 'The next one.' });
    // A message from another device without the reply does not end the reply.
    expect((await post([long, next])).status).toBe(409);
    const second = await post([long, { id, role: 'assistant', content: 'A' }, next]);
    expect(second.status).toBe(200);
    expect(await second.text()).toContain('RUN_FINISHED');
  });

  it('gets the state of the agent, whole and as patches', async () => {
    const agent = connect();
    say(agent, { calls: [remember('r1', 1)] });
    const first = await run(agent);
    expect(typesOf(first)).toContain('STATE_DELTA');
    expect(agent.state).toMatchObject({ memory: { k1: 1 } });
    say(agent, { calls: [remember('r2', 2)] });
    expect(typesOf(await run(agent))[1]).toBe('STATE_SNAPSHOT');
    expect(agent.state).toMatchObject({ memory: { k1: 1, k2: 2 } });
  });

  it('a client that lost its connection follows the same run', async () => {
    const agent = connect();
    say(agent, { say: 'abcdefghij', deltas: 10, everyMs: 50 });
    const left = run(agent, { abortController: new AbortController() }).catch(() => []);
    await until('the client has part of the reply', () =>
      Promise.resolve(spoken(agent).includes('c')),
    );
    agent.abortRun();
    await left;
    const events = await run(agent);
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(shown(agent)).toEqual([['assistant', 'abcdefghij']]);
    const other = connect(agent.threadId);
    await run(other);
    expect(shown(other)).toEqual(shown(agent));
  });

  it('a message that is sent again begins nothing', async () => {
    const agent = connect();
    say(agent, { say: 'Once.' });
    const copy = connect(agent.threadId, [...agent.messages]);
    await run(agent);
    await run(copy);
    expect(shown(copy)).toEqual([['assistant', 'Once.']]);
    const response = await fetch(`${product.url}/api/chat/${agent.threadId}/messages`);
    expect(((await response.json()) as { messages: unknown[] }).messages).toHaveLength(2);
  });

  it('a run that fails ends with its code, and one that is stopped as cancelled', async () => {
    const failing = connect();
    say(failing, { fail: { status: 400 } });
    let error: BaseEvent | undefined;
    await failing
      .runAgent({}, { onRunErrorEvent: ({ event }) => void (error = event) })
      .catch(() => undefined);
    expect(error).toMatchObject({ type: 'RUN_ERROR', code: expect.stringMatching(/^[a-z_]+$/) });

    const stopped = connect();
    say(stopped, { say: 'Half of it', deltas: 10, everyMs: 3_000 });
    const running = run(stopped);
    await until('it speaks', () => Promise.resolve(spoken(stopped) !== ''));
    await fetch(`${product.url}/api/chat/${stopped.threadId}/stop`, { method: 'POST' });
    expect(outcomeOf(await running)).toEqual({ type: 'cancelled' });
  });

  it('refusals are those of every route', async () => {
    const none = connect();
    await expect(run(none)).rejects.toMatchObject({ status: 400 });
    const missing = new HttpAgent({ url: `${product.url}/api/ag-ui/missing`, threadId: 'x' });
    say(missing, { say: 'x' });
    await expect(run(missing)).rejects.toMatchObject({ status: 400 });
    // A client that only follows is refused, too: its agent's name is checked like a sender's.
    const own = connect();
    say(own, { say: 'Mine.' });
    await run(own);
    const { threadId, messages } = own;
    for (const [agent, status] of [
      ['missing', 400],
      ['lab-child', 400],
      ['support', 409],
    ] as const) {
      const url = `${product.url}/api/ag-ui/${agent}`;
      const named = new HttpAgent({ url, threadId, initialMessages: messages });
      await expect(run(named)).rejects.toMatchObject({ status });
    }
  });
});

const echo = (id: string): object => ({ tool: 'echo', id, args: { value: 1 } });

const hasResult = ({ messages }: HttpAgent): boolean =>
  messages.some(({ role }) => role === 'tool');

/** Runs the agent and drops the connection once the client has a result. */
async function loseAtResult(agent: HttpAgent): Promise<void> {
  const onMessagesChanged = (): void => {
    if (hasResult(agent)) agent.abortRun();
  };
  const leaving = { abortController: new AbortController() };
  await agent.runAgent(leaving, { onMessagesChanged }).catch(() => undefined);
}

const idsOf = ({ messages }: HttpAgent): string[] => messages.map(({ id }) => id);

const begun = (events: readonly BaseEvent[]): string[] =>
  events.flatMap((event) => {
    const isBegun = /_START$|_RESULT$/.test(event.type) && 'messageId' in event;
    return isBegun ? [String(event.messageId)] : [];
  });

const upToResult = ({ messages }: HttpAgent): Message[] =>
  messages.slice(0, messages.findIndex(({ role }) => role === 'tool') + 1);

const states = (events: readonly BaseEvent[]): unknown[] =>
  events.flatMap((event) => ('snapshot' in event ? [event.snapshot] : []));

describe("copies of AG-UI's clients", () => {
  it('one that ends in a result of the server is followed', async () => {
    const agent = connect();
    const sleep = { tool: 'sleep', id: 's1', args: { ms: 250 } };
    say(agent, { calls: [echo('e1'), sleep] }, { say: 'abcdefgh', deltas: 8, everyMs: 50 });
    await loseAtResult(agent);
    expect(agent.messages.at(-1)?.role).toBe('tool');
    const copy = [...agent.messages];
    const events = await run(agent);
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    const whole = [
      ['assistant', undefined, 'echo', 'sleep'],
      ['tool', '{"value":1}'],
      ['tool', '{"slept":250}'],
      ['assistant', 'abcdefgh'],
    ];
    expect(shown(agent)).toEqual(whole);
    // A client that connects at rest gets the stored conversation.
    const later = connect(agent.threadId, copy);
    expect(outcomeOf(await run(later))).toEqual({ type: 'success' });
    expect(spoken(later)).toBe('abcdefgh');
    expect(later.messages).toHaveLength(5);
  });

  it('one that ends in a result of an earlier turn is followed', async () => {
    const agent = connect();
    say(agent, { calls: [echo('e1')] }, { say: 'One.' });
    await run(agent);
    const copy = connect(agent.threadId, upToResult(agent));
    say(agent, { say: 'Two.' });
    await run(agent);
    expect(outcomeOf(await run(copy))).toEqual({ type: 'success' });
    expect(shown(copy)).toEqual(shown(agent));
  });

  it('one with the result of a sibling gets its interrupts again', async () => {
    const agent = connect();
    say(agent, { calls: [echo('e1'), charge('c1', 5)] }, { say: 'Done.' });
    const asked = outcomeOf(await run(agent));
    expect(asked).toMatchObject({ type: 'interrupt' });
    expect(agent.messages.at(-1)?.role).toBe('tool');
    const copy = connect(agent.threadId, agent.messages);
    expect(outcomeOf(await run(copy))).toEqual(asked);
    expect(outcomeOf(await run(copy, decide(copy)))).toEqual({ type: 'success' });
    expect(spoken(copy)).toBe('Done.');
    const late = connect(agent.threadId, copy.messages.slice(0, -1));
    expect(late.messages.at(-1)?.role).toBe('tool');
    await run(late);
    expect(spoken(late)).toBe('Done.');
  });

  it('one with the result of its own tool and later ones of the server is followed', async () => {
    const agent = connect();
    say(agent, { calls: [locate('c1')] }, { calls: [echo('e1')] }, { say: 'Done.' });
    await run(agent);
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Berlin' });
    await run(agent);
    const end = agent.messages.at(-1);
    expect(end?.content).toBe('Done.');
    const copy = connect(agent.threadId, agent.messages.slice(0, -1));
    expect(outcomeOf(await run(copy))).toEqual({ type: 'success' });
    expect(shown(copy)).toEqual(shown(agent));
    // A client that sends its own result again gets the rest of the reply, and no result twice.
    const again = connect(agent.threadId, upToResult(agent));
    await run(again);
    expect(shown(again)).toEqual(shown(agent));
  });

  it('ids of messages are unique in a thread whatever runs are called, and stay the same', async () => {
    const agent = connect();
    // A client may reuse one run id for all its runs.
    const runId = 'r1';
    say(agent, { think: 'Hm.', say: 'One.', calls: [echo('1'), locate('c1')] }, { say: 'Two.' });
    const first = await run(agent, { runId });
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Berlin' });
    const second = await run(agent, { runId });
    say(agent, { say: 'Three.', calls: [echo('2')] }, { say: 'Four.' });
    const later = [...agent.messages];
    const third = await run(agent, { runId });
    expect(shown(agent)).toEqual([
      ['reasoning', 'Hm.'],
      ['assistant', 'One.', 'echo', 'locate'],
      ['tool', '{"value":1}'],
      ['tool', 'Berlin'],
      ['assistant', 'Two.'],
      ['user', expect.any(String)],
      ['assistant', 'Three.', 'echo'],
      ['tool', '{"value":1}'],
      ['assistant', 'Four.'],
    ]);
    expect(new Set(idsOf(agent)).size).toBe(idsOf(agent).length);
    expect([first, second, third].map((events) => begun(events).length)).toEqual([4, 1, 3]);
    // Another client sends the same request again, having received none of the reply.
    expect(begun(await run(connect(agent.threadId, later), { runId: 'r2' }))).toEqual(begun(third));
    // A client with nothing new gets the stored conversation, with its ids and order.
    const copy = connect(agent.threadId, agent.messages);
    await run(copy, { runId });
    expect([idsOf(copy), shown(copy)]).toEqual([idsOf(agent), shown(agent)]);
    // A client that has lost the end gets it, too.
    const part = connect(agent.threadId, agent.messages.slice(0, -2));
    await run(part, { runId });
    expect([idsOf(part), shown(part)]).toEqual([idsOf(agent), shown(agent)]);
  });

  it('a tail that is asked for again has the ids that it had', async () => {
    const agent = connect();
    say(agent, { say: 'One.', calls: [locate('c1')] }, { say: 'Two.', calls: [echo('e1')] });
    const first = begun(await run(agent));
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Berlin' });
    const answered = [...agent.messages];
    const tail = begun(await run(agent));
    expect(tail).toHaveLength(3);
    expect(tail.filter((id) => first.includes(id))).toEqual([]);
    expect(begun(await run(connect(agent.threadId, answered)))).toEqual(tail);
    // The server cannot see the earlier messages of a client that sends only its answer.
    const bare = begun(await run(connect(agent.threadId, answered.slice(-1))));
    expect(bare).toHaveLength(3);
    expect(bare.filter((id) => first.includes(id))).toEqual([]);
  });

  it('an answer that came too late is refused by its code', async () => {
    const agent = connect();
    say(agent, { calls: [charge('c1', 5)] });
    await run(agent);
    const approval = decide(agent);
    const copy = connect(agent.threadId, agent.messages);
    say(copy, { say: 'Never mind.' });
    await run(copy);
    const late = run(agent, approval);
    await expect(late).rejects.toMatchObject({ status: 409, payload: { code: 'stale_run' } });
  });

  it('a user message before a result or a note is a message', async () => {
    const agent = connect();
    say(agent, { calls: [locate('c1')] }, { say: 'Seen.' });
    await run(agent);
    say(agent, { say: 'Both.' });
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Berlin' });
    await run(agent);
    expect(spoken(agent)).toBe('Both.');
    say(agent, { say: 'Noted.' });
    agent.addMessage({ id: 'd1', role: 'developer', content: 'Be brief.' });
    await run(agent);
    expect(spoken(agent)).toBe('Noted.');
  });

  it('the state of a repeated turn begins where its patches begin', async () => {
    const agent = connect();
    say(agent, { calls: [remember('r0', 0)] });
    await run(agent);
    say(agent, { calls: [remember('r1', 1), locate('c1')] }, { calls: [remember('r2', 2)] });
    const asked = [...agent.messages];
    await run(agent);
    const [first] = states(await run(connect(agent.threadId, asked)));
    expect(first).toEqual({ memory: { k0: 0 } });
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Berlin' });
    const answered = [...agent.messages];
    await run(agent);
    const again = connect(agent.threadId, answered);
    const events = await run(again);
    expect(typesOf(events)).toContain('STATE_DELTA');
    expect(states(events)).toEqual([
      { memory: { k0: 0, k1: 1 } },
      { memory: { k0: 0, k1: 1, k2: 2 } },
    ]);
    expect(again.state).toEqual({ memory: { k0: 0, k1: 1, k2: 2 } });
  });
});
