import type { BaseEvent, HttpAgent, Message } from '@ag-ui/client';
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
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

silenceClient();

const connect = (threadId?: string, messages?: Message[]): HttpAgent =>
  connectAgUi(product.url, threadId, messages);

const echo = (id: string): object => ({ tool: 'echo', id, args: { value: 1 } });

const hasResult = ({ messages }: HttpAgent): boolean =>
  messages.some(({ role }) => role === 'tool');

/** Runs the agent and drops the connection once the client has a result. */
async function loseAtResult(agent: HttpAgent): Promise<void> {
  const left = run(agent, { abortController: new AbortController() }).catch(() => []);
  await until('the client has a result', () => Promise.resolve(hasResult(agent)));
  agent.abortRun();
  await left;
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
    say(agent, { calls: [echo('e1')] }, { say: 'abcdefgh', deltas: 8, everyMs: 250 });
    await loseAtResult(agent);
    expect(agent.messages.at(-1)?.role).toBe('tool');
    const copy = [...agent.messages];
    const events = await run(agent);
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    const whole = [
      ['assistant', undefined, 'echo'],
      ['tool', '{"value":1}'],
      ['assistant', 'abcdefgh'],
    ];
    expect(shown(agent)).toEqual(whole);
    // A client that connects at rest gets the stored conversation.
    const later = connect(agent.threadId, copy);
    expect(outcomeOf(await run(later))).toEqual({ type: 'success' });
    expect(spoken(later)).toBe('abcdefgh');
    expect(later.messages).toHaveLength(4);
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
