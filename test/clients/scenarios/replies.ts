import { toScript } from '../../support/chat-client.js';
import { scenario } from '../scenario.js';
import { expectSame } from '../stage.js';
import type { Tab } from '../tab.js';

const echo = (id: string, value: unknown): object => ({ tool: 'echo', id, args: { value } });

export const replies = [
  scenario('text', async (stage) => {
    const tab = await stage.openNew();
    const text = 'Every word of this arrives once, äöü 🙂.';
    await tab.say({ say: text, deltas: 10, everyMs: 5 });
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.reply()).toBe(text);
    expect(tab.view.messages).toHaveLength(2);
  }),
  scenario('reasoning, and calls of several tools in one step', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({
      think: 'Let me see.',
      say: 'All at once.',
      calls: [
        echo('c1', 1),
        { tool: 'boom', id: 'c2', args: { message: 'no luck' } },
        { tool: 'progress', id: 'c3', args: { steps: 2 } },
        { tool: 'remember', id: 'c4', args: { key: 'a', value: 1 } },
        { tool: 'sleep', id: 'c5', args: { ms: 50 } },
      ],
    });
    await stage.expectRight(tab, { posts: 1 });
    const parts = tab.view.messages[1]?.parts ?? [];
    expect(parts.filter(({ type }) => type.startsWith('data-'))).toHaveLength(2);
    expect(tab.view.data).toContain('data-state-patch');
    const ended = { type: 'dynamic-tool', state: 'output-available' };
    expect(parts.filter(({ type }) => !type.startsWith('data-'))).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'All at once.' },
      ended,
      { state: 'output-error', errorText: 'no luck' },
      ended,
      ended,
      ended,
      { type: 'step-start' },
      { type: 'text', text: 'done' },
    ]);
  }),
  scenario('server tools', async (stage) => {
    const tab = await stage.openNew();
    await tab.say(
      { calls: [{ ...echo('c1', { deep: [1, 'ä'] }), argDeltas: 3 }] },
      { calls: [echo('c2', null)] },
      { say: 'Both echoed.' },
    );
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.calls()).toMatchObject([
      { toolCallId: 'c1', state: 'output-available', output: { value: { deep: [1, 'ä'] } } },
      { toolCallId: 'c2', state: 'output-available', output: { value: null } },
    ]);
  }),
  scenario('preliminary results of a tool', async (stage) => {
    const tab = await stage.openNew();
    const write = (id: string, pieces: number, everyMs: number): object => ({
      tool: 'write',
      id,
      args: { pieces, everyMs },
    });
    const output = (of: Tab): unknown => of.calls()[0]?.output;
    await tab.say({ calls: [write('w1', 2, 30_000)] });
    await tab.untilShown('what there is', () => output(tab) !== undefined);
    expect(tab.calls()).toMatchObject([
      { state: 'output-available', output: { done: 1, of: 2 }, preliminary: true },
    ]);
    const second = await stage.load();
    await second.untilShown('what there is', () => output(second) !== undefined);
    expect(second.calls()).toMatchObject([{ output: { done: 1, of: 2 }, preliminary: true }]);
    await stage.stop();
    await tab.untilRests();
    expect(tab.calls()).toMatchObject([{ state: 'output-error' }]);
    await tab.say({ calls: [write('w2', 3, 120)] });
    await stage.expectRight(tab, { posts: 2 });
    const { calls } = tab;
    expect(calls().at(-1)).toMatchObject({ state: 'output-available', output: { written: 3 } });
    expect(calls().at(-1)).not.toMatchObject({ preliminary: true });
  }),
  scenario("a page's own parts of a message", async (stage) => {
    const tab = await stage.openNew();
    const parts = [
      { type: 'data-place', id: 'p1', data: { name: 'Bern', deep: [1, 'ä', null] } },
      { type: 'text', ...toScript({ quote: true }) },
      { type: 'data-seen', data: true },
    ];
    await tab.act('sendMessage', { parts });
    await stage.expectRight(tab, { posts: 1 });
    expect((await stage.stored()).messages[0]?.parts).toEqual(parts);
    // The model does not get a page's data parts.
    expect(tab.reply()).not.toContain('Bern');
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
  }),
  scenario('a failed run', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'Half is kept', deltas: 2, fail: { status: 400, afterDeltas: 1 } });
    await tab.untilShown('the error', () => tab.view.status === 'error');
    await tab.untilRests();
    expect(tab.view.errors).toHaveLength(1);
    expect(tab.posts()).toBe(1);
    const later = await stage.load();
    await later.untilRests();
    expect(later.view.messages).toEqual((await stage.stored()).messages);
    expect([tab.reply(), later.reply()]).toEqual(['Half i', 'Half i']);

    await later.say({ say: 'All is well.' });
    await stage.expectRight(later, { posts: 1 });
    expect(later.reply()).toBe('All is well.');
  }),
  scenario('a run that fails before its first word', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'Never.', fail: { status: 400 } });
    await tab.untilShown('the error', () => tab.view.status === 'error');
    await tab.untilRests();
    expect([tab.view.errors.length, tab.posts()]).toEqual([1, 1]);
    await tab.hear('All is well.');
    expect(tab.posts()).toBe(2);
    // The page got the beginning of a message, and the store has the same.
    expect(tab.view.messages[1]?.parts).toEqual([{ type: 'step-start' }]);
    const { messages } = await stage.stored();
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expectSame(tab.view.messages, messages);
  }),
  scenario('a provider that fails for a moment', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'Got it.', fail: { status: 429, retryAfterMs: 50, times: 2 } });
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.reply()).toBe('Got it.');
  }),
];
