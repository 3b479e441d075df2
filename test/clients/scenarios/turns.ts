import { callsOf, toScript } from '../../support/chat-client.js';
import { charge } from '../../support/lab-calls.js';
import { until } from '../../support/until.js';
import { scenario } from '../scenario.js';
import { expectSame } from '../stage.js';

const LONG = 'Most of this is never sent. '.repeat(40);
const endless = { say: LONG, deltas: 400, everyMs: 50 };
const sleep = { tool: 'sleep', id: 's1', args: { ms: 60_000 } };

export const turns = [
  scenario('stop in the middle of a reply', async (stage) => {
    const tab = await stage.openNew();
    await tab.say(endless);
    await tab.untilShown('some text', () => tab.reply().length > 10);
    await stage.stop();
    await stage.expectRight(tab, { posts: 1 });
    expect(LONG.startsWith(tab.reply())).toBe(true);
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(later.reply()).toBe(tab.reply());
    await later.say({ say: 'Here again.' });
    await stage.expectRight(later, { posts: 1 });
    expect(later.reply()).toBe('Here again.');
  }),

  scenario('stop by a button that hangs up as well', async (stage) => {
    const tab = await stage.openNew();
    await tab.say(endless);
    await tab.untilShown('some text', () => tab.reply().length > 10);
    await tab.act('stop');
    await stage.stop();
    await tab.untilRests();
    expect([tab.view.status, tab.view.errors, tab.posts()]).toEqual(['ready', [], 1]);
    // The page does not know the text after its disconnection.
    const shown = tab.reply();
    const later = await stage.load();
    await later.untilRests();
    await stage.expectRight(later, { posts: 0 });
    expect(later.reply().startsWith(shown)).toBe(true);
  }),

  scenario('stop before the first word', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'Never.', hangMs: 60_000 });
    await tab.untilShown('the beginning', () => tab.view.requests[0]?.status === 200);
    await stage.stop();
    await stage.expectRight(tab, { posts: 1 });
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    // The turn stays one message after others follow.
    await later.say({ say: 'Here again.' });
    await later.untilShown('the reply', () => later.reply() === 'Here again.');
    await stage.expectRight(later, { posts: 1 });
    await tab.hear('And here.');
  }),

  scenario('stop of a running tool', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [sleep] });
    await tab.untilShown('the call', () => tab.calls()[0]?.state === 'input-available');
    await stage.stop();
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.calls()).toMatchObject([{ state: 'output-error' }]);
  }),

  scenario('stop while the model thinks about an approved call', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] }, { say: 'Never.', hangMs: 60_000 });
    await tab.decide('c1', true);
    await tab.untilShown('the result', () => tab.calls()[0]?.state === 'output-available');
    await stage.stop();
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ state: 'output-available' }]);
  }),

  scenario('stop of a running approved call', async (stage) => {
    const tab = await stage.openNew();
    await tab.say(
      { calls: [charge('c1'), { tool: 'locate', id: 'c2', args: {} }] },
      { calls: [sleep] },
    );
    await tab.decide('c1', true);
    await tab.give('c2', 'locate', 'here');
    await tab.untilShown('the call', () => tab.calls()[2]?.state === 'input-available');
    await stage.stop();
    await stage.expectRight(tab, { posts: 2 });
  }),

  scenario('stop while the agent asks', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] });
    await tab.untilAsked('c1');
    await stage.stop();
    // The page learns of it when it answers.
    await tab.decide('c1', true);
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.calls()).toMatchObject([{ state: 'output-error' }]);
    expect(await stage.countCharges()).toEqual({});
  }),

  scenario('regenerate', async (stage) => {
    const tab = await stage.openNew();
    await tab.hear('Before.');
    await tab.say({ say: 'Once.', calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] });
    await stage.expectRight(tab, { posts: 2 });
    const before = tab.view.messages.map(({ id }) => id);
    await tab.act('regenerate');
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.view.messages.map(({ id }) => id)).toEqual(before);
    expect(tab.calls()).toMatchObject([{ toolCallId: 'c1_1', state: 'output-available' }]);
  }),

  scenario('regenerate an older reply', async (stage) => {
    const tab = await stage.openNew();
    await tab.hear('One.', 'Two.');
    await tab.act('regenerate', { messageId: 'msg-1' });
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.view.messages).toHaveLength(2);
    expect(tab.reply()).toBe('One.');
  }),

  scenario('a message is edited', async (stage) => {
    const tab = await stage.openNew();
    await tab.hear('One.', 'Two.');
    const messageId = tab.view.messages[2]?.id ?? '';
    await tab.act('sendMessage', { ...toScript({ say: 'Other.' }), messageId });
    await tab.untilShown('the reply', () => tab.reply() === 'Other.');
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.view.messages).toHaveLength(4);
  }),

  scenario('an older message is sent again unchanged', async (stage) => {
    const tab = await stage.openNew();
    await tab.hear('One.', 'Two.');
    const messageId = tab.view.messages[0]?.id ?? '';
    await tab.act('sendMessage', { ...toScript({ say: 'One.' }), messageId });
    await tab.untilShown('the reply', () => tab.reply() === 'One.');
    await stage.expectRight(tab, { posts: 3 });
    expect(tab.view.messages).toHaveLength(2);
  }),

  scenario('regenerate what asked', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] });
    await tab.decide('c1', true);
    await stage.expectRight(tab, { posts: 2 });
    await tab.act('regenerate');
    await tab.decide('c1_1', false);
    await stage.expectRight(tab, { posts: 4 });
    expect(tab.calls()).toMatchObject([{ toolCallId: 'c1_1', state: 'output-denied' }]);
  }),

  scenario('queue', async (stage) => {
    const first = await stage.openNew();
    await first.say({ say: 'Hello.' });
    await stage.expectRight(first, { posts: 1 });
    const second = await stage.load();
    await stage.expectRight(second, { posts: 0 });
    await first.say({ calls: [sleep] });
    await first.untilShown('the call', () => first.calls()[0]?.state === 'input-available');
    await second.act('sendMessage', toScript({ say: 'In turn.' }), { body: { busy: 'queue' } });
    await until('it waits', async () => (await stage.stored()).queue?.length === 1);
    await stage.stop();
    await second.untilShown('the reply', () => second.reply() === 'In turn.');
    await first.untilRests();
    await second.untilRests();
    expect([first.posts(), second.posts()]).toEqual([2, 1]);
    expect([first.view.errors, second.view.errors]).toEqual([[], []]);
    // Of the later turns, each page knows only those that it requested.
    const { messages } = await stage.stored();
    expect(messages).toHaveLength(6);
    expectSame(first.view.messages, messages.slice(0, 4));
    expectSame(second.view.messages, [...messages.slice(0, 2), ...messages.slice(4)]);
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
  }),

  scenario('double click on send', async (stage) => {
    const tab = await stage.openNew();
    const slowly = { say: 'Sent once and only once.', deltas: 12, everyMs: 30 };
    await Promise.all([tab.say(slowly), tab.say(slowly)]);
    await tab.untilShown('the refusal', () => tab.view.errors.length > 0);
    await tab.untilRests();
    const statuses = tab.view.requests.map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409]);
    await until('the reply is stored', async () => (await stage.stored()).status === 'ended');
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(later.view.messages).toHaveLength(2);
    expect(later.reply()).toBe('Sent once and only once.');
  }),

  scenario('double click on an answer', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1'), { tool: 'locate', id: 'c2', args: {} }] });
    await tab.decide('c1', true);
    const answer = { tool: 'locate', toolCallId: 'c2', output: 'here' };
    await tab.untilRests();
    await Promise.all([tab.act('addToolOutput', answer), tab.act('addToolOutput', answer)]);
    await tab.untilShown('the reply', () => tab.reply() === 'done');
    await tab.untilRests();
    expect(callsOf((await stage.stored()).messages[1])).toHaveLength(2);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
    await stage.expectRight(tab, { posts: tab.posts() });
  }),
];
