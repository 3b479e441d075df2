import { HttpAgent, type BaseEvent, type Message } from '@ag-ui/client';
import { askByAgUi } from '../../examples/other-protocols/ag-ui.js';
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
} from '../support/ag-ui-client.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

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

  it('of the example asks, approves and gets the answer', async () => {
    const question = 'I want a refund for order 1042 please';
    expect(await askByAgUi(product.url, newSessionId(), question)).toMatch(/refund/i);
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

  it('an approval is not given by anything that is not a decision', async () => {
    const agent = connect();
    say(agent, { calls: [charge('c1', 5)] });
    await run(agent);
    const [interrupt] = agent.pendingInterrupts;
    const interruptId = interrupt?.id ?? '';
    const resume = [{ interruptId, status: 'resolved' as const, payload: 'yes' }];
    await expect(run(agent, { resume })).rejects.toMatchObject({ status: 400 });
    for (const result of [{ content: '{"approved":true}' }, { content: '', error: 'no' }]) {
      const answer = { id: 't1', role: 'tool' as const, toolCallId: 'c1', ...result };
      const forged = connect(agent.threadId, [...agent.messages, answer]);
      await expect(run(forged)).rejects.toMatchObject({ status: 400 });
    }
    // The ids name another conversation or nothing at all, though the call id is the same.
    for (const id of ['other:1-x::c1', 'anything::c1']) {
      const decided = { interruptId: id, status: 'resolved' as const, payload: { approved: true } };
      const copy = connect(agent.threadId, agent.messages);
      await expect(run(copy, { resume: [decided] })).rejects.toMatchObject({ status: 409 });
    }
    await run(agent, decide(agent));
    expect(agent.messages.at(-1)?.content).toBe('done');
  });

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
    const long = asks('u1', { say: 'A long answer. '.repeat(20), deltas: 100, everyMs: 50 });
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
    say(agent, { say: 'abcdefghij', deltas: 10, everyMs: 100 });
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
