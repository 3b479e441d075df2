import { callsOf } from '../../support/chat-client.js';
import { charge, delegate } from '../../support/lab-calls.js';
import { until } from '../../support/until.js';
import { scenario } from '../scenario.js';
import { expectSame } from '../stage.js';

const locate = (id: string): object => ({ tool: 'locate', id, args: {} });

export const approvals = [
  scenario('approve', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'May I?', calls: [charge('c1')] });
    const id = await tab.untilAsked('c1');
    await stage.expectRight(tab, { posts: 1 });
    await tab.act('addToolApprovalResponse', { id, approved: true });
    // A second click changes nothing.
    await tab.act('addToolApprovalResponse', { id, approved: false });
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.reply()).toBe('May I?done');
    expect(tab.calls()).toMatchObject([{ state: 'output-available', output: { charged: 5 } }]);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),
  scenario('deny', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] }, { say: 'Then not.' });
    await tab.decide('c1', false);
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ state: 'output-denied' }]);
    expect(tab.reply()).toBe('Then not.');
    expect(await stage.countCharges()).toEqual({});
  }),
  scenario('edit, on a page that is loaded again', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1', 50)] }, { say: 'Less, then.' });
    await tab.untilAsked('c1');
    const edit = { approved: true, input: { amount: 30 } };
    expect(await stage.post('pending/c1', edit)).toBe(202);
    await tab.close();
    const later = await stage.load();
    await later.untilShown('the reply', () => later.reply() === 'Less, then.');
    await stage.expectRight(later, { posts: 0 });
    expect(later.calls()).toMatchObject([{ output: { charged: 30 } }]);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),
  scenario('edit, on the page that asked', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1', 50)] }, { say: 'Less, then.' });
    const id = await tab.untilAsked('c1');
    await stage.post('pending/c1', { approved: true, input: { amount: 30 } });
    // The page's decision comes too late to count, but the request brings it the rest of the reply.
    await tab.act('addToolApprovalResponse', { id, approved: true });
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ output: { charged: 30 } }]);
    expect(tab.reply()).toBe('Less, then.');
  }),
  scenario('two approvals in one step', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1', 1), charge('c2', 2)] });
    await tab.decide('c1', true);
    await tab.untilRests();
    expect(tab.posts()).toBe(1);
    expect(await stage.countCharges()).toEqual({});
    await tab.decide('c2', false);
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([
      { state: 'output-available', output: { charged: 1 } },
      { state: 'output-denied' },
    ]);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),
  scenario('client tool', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'Where?', calls: [locate('c1'), locate('c2')] });
    await tab.give('c1', 'locate', { lat: 1 });
    await tab.untilRests();
    expect(tab.posts()).toBe(1);
    await tab.give('c2', 'locate', { lat: 2 });
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ output: { lat: 1 } }, { output: { lat: 2 } }]);
    expect(tab.reply()).toBe('Where?done');
  }),
  scenario('client tool that fails', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [locate('c1')] });
    await tab.untilShown('the call', () => tab.view.status === 'ready' && tab.calls().length > 0);
    const failure = { state: 'output-error', errorText: 'no satellite' };
    await tab.act('addToolOutput', { tool: 'locate', toolCallId: 'c1', ...failure });
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([failure]);
    expect(tab.reply()).toBe('done');
  }),
  scenario('client tool and approval in one step', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [locate('c1'), charge('c2')] });
    await tab.decide('c2', true);
    await tab.untilRests();
    await tab.give('c1', 'locate', 'here');
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ output: 'here' }, { output: { charged: 5 } }]);
    expect(await stage.countCharges()).toEqual({ c2: 1 });
  }),
  scenario('sub-agent that asks', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({
      say: 'Ask it.',
      calls: [
        delegate('d1', { calls: [charge('c1')] }, { calls: [charge('c3')] }, { say: 'paid' }),
        charge('c2', 7),
      ],
    });
    await tab.decide('c2', true);
    await tab.decide('c1', true);
    // The agent asks again, and the reply continues in the same message.
    await tab.untilAsked('c3');
    await tab.decide('c3', false);
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.reply()).toBe('Ask it.done');
    expect(
      tab
        .calls()
        .map(({ state }) => state)
        .sort(),
    ).toEqual([...Array<string>(3).fill('output-available'), 'output-denied']);
  }),
  scenario('sub-agent that asks, named after what the agent asks itself', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({
      say: 'Ask it.',
      calls: [
        charge('c2', 7),
        locate('c3'),
        delegate('d1', { calls: [charge('c1')] }, { say: 'paid' }),
      ],
    });
    // All pending calls are in one step, so any of them may be answered last.
    await tab.decide('c1', true);
    await tab.decide('c2', true);
    await tab.untilRests();
    expect(tab.posts()).toBe(1);
    await tab.give('c3', 'locate', 'here');
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.reply()).toBe('Ask it.done');
    expect(tab.calls().map(({ toolCallId }) => toolCallId)).toEqual(['d1', 'c2', 'c3', 'c1']);
    expect(tab.calls().map(({ state }) => state)).toEqual(Array(4).fill('output-available'));
    expect(await stage.countCharges()).toEqual({ c2: 1 });
  }),
  scenario('an agent with sub-agents asks beside a tool', async (stage) => {
    const tab = await stage.openNew();
    const echo = { tool: 'echo', id: 'e1', args: { value: 1 } };
    await tab.say({ calls: [charge('c1'), echo, locate('c2')] }, { calls: [charge('c3')] });
    await tab.decide('c1', true);
    await tab.give('c2', 'locate', 'here');
    await tab.untilAsked('c3');
    await stage.expectRight(tab, { posts: 2 });
    await tab.decide('c3', false);
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.calls().map(({ toolCallId }) => toolCallId)).toEqual(['e1', 'c1', 'c2', 'c3']);
  }),
  scenario('abandonment', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] });
    await tab.untilAsked('c1');
    await tab.say({ say: 'Something else, then.' });
    await tab.untilShown('the reply', () => tab.reply() === 'Something else, then.');
    await tab.untilRests();
    expect([tab.view.errors, tab.posts()]).toEqual([[], 2]);
    const { messages } = await stage.stored();
    // The question stays in an earlier message that no response can change any more.
    expectSame(
      tab.view.messages.filter((_, index) => index !== 1),
      messages.filter((_, index) => index !== 1),
    );
    expect(callsOf(messages[1])).toMatchObject([{ state: 'output-error' }]);
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(await stage.countCharges()).toEqual({});
  }),
  scenario('deadline', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [{ tool: 'ask', id: 'c1', args: { question: 'well?' } }] });
    await tab.untilShown('the call', () => tab.view.status === 'ready' && tab.calls().length > 0);
    await until(
      'the run continues without an answer',
      async () => (await stage.stored()).run?.status === 'completed',
    );
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(later.calls()).toMatchObject([
      { state: 'output-error', errorText: 'client_tool_deadline_exceeded' },
    ]);
    // The answer of the first page comes too late, so the page shows how the run continued.
    await tab.give('c1', 'ask', 'so');
    await stage.expectRight(tab, { posts: 2 });
  }),
];
