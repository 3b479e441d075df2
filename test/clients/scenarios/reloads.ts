import type { UIMessage } from 'ai';
import { charge } from '../../support/lab-calls.js';
import { until } from '../../support/until.js';
import { madeWith, scenario } from '../scenario.js';
import { expectSame, type Stage } from '../stage.js';
import type { Tab } from '../tab.js';

const LONG = 'Nothing of this may be lost or doubled, by any viewer. '.repeat(4);
const slowly = { say: LONG, deltas: 40, everyMs: 50 };
const sleep = { tool: 'sleep', id: 's1', args: { ms: 60_000 } };
const working = { say: LONG, deltas: 20, everyMs: 5, calls: [sleep] };
const echo = { tool: 'echo', id: 'e1', args: { value: 1 } };

/** Numbers of received parts after which a page is loaded again. */
const BOUNDARIES = [1, 2, 3, 5, 7, 9, 12, 16, 20];

/**
 * Reloads the page repeatedly, each time after a few more parts, while a tool keeps the turn
 * active. Each page must have shown a prefix of the final page.
 */
async function expectRightAtBoundaries(stage: Stage, first: Tab, text: string): Promise<void> {
  const shown: UIMessage[][] = [];
  let open = first;
  for (const parts of BOUNDARIES) {
    await open.untilShown('the boundary', () => isAtBoundary(open));
    shown.push(open.view.messages);
    await open.close();
    open = await stage.beginLoad();
    await open.limit({ parts });
    await open.mount();
  }
  await open.close();
  const last = await stage.load();
  // A stop while a call's input is incomplete removes the call.
  await last.untilShown('the running tool', () => {
    const call = last.calls().at(-1);
    return call?.toolCallId === 's1' && call.state === 'input-available';
  });
  await stage.stop();
  await stage.expectRight(last, { posts: 0 });
  expect(last.reply()).toBe(text);
  for (const messages of shown) expectBeginning(messages, last.view.messages);
}

/** Expects the newest message, if there is one yet, to be a prefix of the whole one. */
function expectBeginning(shown: UIMessage[], whole: UIMessage[]): void {
  const [before, after] = [shown[1]?.parts ?? [], whole[1]?.parts ?? []];
  expect(shown.map(({ id }) => id)).toEqual(whole.slice(0, shown.length).map(({ id }) => id));
  expect(before.map(nameOf)).toEqual(after.slice(0, before.length).map(nameOf));
  before.forEach((part, index) => {
    const text = textIn(after[index]);
    const isLast = index === before.length - 1;
    expect(textIn(part)).toBe(isLast ? text.slice(0, textIn(part).length) : text);
  });
}

function nameOf(part: UIMessage['parts'][number]): string {
  return part.type === 'dynamic-tool' ? part.toolCallId : part.type;
}

function textIn(part: UIMessage['parts'][number] | undefined): string {
  return part?.type === 'text' || part?.type === 'reasoning' ? part.text : '';
}

function isAtBoundary({ view }: Tab): boolean {
  return view.requests.at(-1)?.isHeld === true;
}

function untilStreamIs(stage: Stage, status: string): Promise<unknown> {
  return until(`the stream is ${status}`, async () => (await stage.stored()).status === status);
}

/** Waits on the stored record, because reading a snapshot would count as the newest one. */
function untilRecordIs({ storedStream }: Stage, stream: string): Promise<unknown> {
  return until(`the stream is ${stream}`, async () => (await storedStream()) === stream);
}

/** @param untilStatus waits for a status of the stream, by a snapshot or by the record */
const backAfterTheEnd = (untilStatus: typeof untilRecordIs) =>
  scenario('reload that comes back after the end', async (stage) => {
    const first = await stage.openNew();
    await first.say({ say: 'First this.', calls: [echo] }, working);
    await first.untilShown('the running tool', () => first.calls().length === 2);
    const tab = await stage.beginLoad();
    await stage.stop();
    await untilStatus(stage, 'ended');
    await tab.mount();
    await stage.expectRight(tab, { posts: 0 });
    expect(tab.view.requests[0]).toMatchObject({ method: 'GET', status: 200 });
    expect(tab.reply()).toBe(`First this.${LONG}`);
  });

const withoutCookies = [
  scenario(
    'reload after the end, beside a page that was loaded while the turn was active',
    async (stage) => {
      const first = await stage.openNew();
      await first.say({ say: 'First this.', calls: [echo] }, working);
      await first.untilShown('the running tool', () => first.calls().length === 2);
      const second = await stage.load();
      await second.untilShown('the running tool', () => second.calls().length === 2);
      await stage.stop();
      await second.untilRests();
      const third = await stage.load();
      await third.untilRests();
      expect(third.view.requests).toMatchObject([{ method: 'GET', status: 204 }]);
      await stage.expectRight(third, { posts: 0 });
      await stage.expectRight(second, { posts: 0 });
      expect(third.reply()).toBe(`First this.${LONG}`);
    },
  ),

  backAfterTheEnd(untilRecordIs),
].map((each) => madeWith('no-cookies', each));

export const reloads = [
  ...withoutCookies,

  scenario('reload at boundaries of a turn', async (stage) => {
    const first = await stage.openNew();
    await first.limit({ parts: 4 });
    await first.say({ think: 'Hm, well.', say: 'First this.', calls: [echo] }, working);
    await expectRightAtBoundaries(stage, first, `First this.${LONG}`);
    expect(first.posts()).toBe(1);
  }),

  scenario('reload at boundaries of what follows an approval', async (stage) => {
    const first = await stage.openNew();
    await first.say({ say: 'May I?', calls: [charge('c1'), echo] }, working);
    await first.untilAsked('c1');
    await first.limit({ parts: 4 });
    await first.decide('c1', true);
    await first.untilShown('the boundary', () => isAtBoundary(first));
    await expectRightAtBoundaries(stage, first, `May I?${LONG}`);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
    // Answered questions are never replayed.
    const replays = (await stage.readLogs()).filter(({ method }) => method === 'GET');
    expect(replays.filter(({ raw }) => raw.includes('"tool-approval-request"'))).toEqual([]);
  }),

  scenario('reload while the agent asks', async (stage) => {
    const first = await stage.openNew();
    const locate = { tool: 'locate', id: 'c2', args: {} };
    await first.say({ say: 'May I?', calls: [charge('c1'), locate] });
    await first.untilAsked('c1');
    await first.close();
    const tab = await stage.load();
    await stage.expectRight(tab, { posts: 0 });
    expect(tab.view.requests).toMatchObject([{ method: 'GET', status: 204 }]);
    await tab.decide('c1', true);
    await tab.give('c2', 'locate', 'here');
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.reply()).toBe('May I?done');
  }),

  scenario('reload between two answers', async (stage) => {
    const first = await stage.openNew();
    await first.say({ calls: [charge('c1', 1), charge('c2', 2)] });
    await first.decide('c1', true);
    await first.close();
    // The first page kept its answer until it had both.
    const tab = await stage.load();
    await tab.decide('c2', false);
    await tab.decide('c1', true);
    await stage.expectRight(tab, { posts: 1 });
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),

  scenario('reload after a denial that was given elsewhere', async (stage) => {
    const first = await stage.openNew();
    await first.say({ calls: [charge('c1'), { tool: 'locate', id: 'c2', args: {} }] });
    await first.untilAsked('c1');
    expect(await stage.post('pending/c1', { approved: false })).toBe(202);
    await first.close();
    const second = await stage.load();
    await second.give('c2', 'locate', 'here');
    await stage.expectRight(second, { posts: 1 });
    await second.say({ calls: [charge('c3'), charge('c4')] });
    await second.untilAsked('c3');
    expect(await stage.post('pending/c3', { approved: false })).toBe(202);
    await second.close();
    const tab = await stage.load();
    await tab.decide('c4', true);
    await stage.expectRight(tab, { posts: 1 });
    expect(await stage.countCharges()).toEqual({ c4: 1 });
  }),

  backAfterTheEnd(untilStreamIs),

  scenario('reload that comes back after the question', async (stage) => {
    const first = await stage.openNew();
    await first.say({ ...slowly, calls: [charge('c1')] });
    await first.untilShown('some text', () => first.reply().length > 20);
    const tab = await stage.beginLoad();
    await untilStreamIs(stage, 'paused');
    await tab.mount();
    await tab.decide('c1', true);
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.reply()).toBe(`${LONG}done`);
  }),

  scenario('reload that comes back after a failure', async (stage) => {
    const first = await stage.openNew();
    const fail = { status: 401, afterDeltas: 60 };
    await first.say({ say: LONG, deltas: 80, everyMs: 50, fail });
    await first.untilShown('some text', () => first.reply().length > 20);
    const tab = await stage.beginLoad();
    await first.untilShown('the error', () => first.view.status === 'error');
    await tab.mount();
    await tab.untilShown('the error', () => tab.view.status === 'error');
    await tab.untilRests();
    expect(tab.view.requests).toMatchObject([{ method: 'GET', status: 200 }]);
    const { messages, run } = await stage.stored();
    expectSame(tab.view.messages, messages);
    // The stored run has the same reason.
    expect(run?.error).toMatchObject({ code: 'provider_unauthorized' });
    for (const { view } of [first, tab]) expect(view.errors).toEqual([run?.error?.message]);
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(later.view.requests).toMatchObject([{ method: 'GET', status: 204 }]);
  }),

  scenario('two tabs look at one reply', async (stage) => {
    const first = await stage.openNew();
    await first.say({ think: 'Hm.', say: 'First this.', calls: [echo] }, slowly);
    await first.untilShown('some text', () => first.reply().length > 20);
    const second = await stage.load();
    await stage.expectRight(second, { posts: 0 });
    await stage.expectRight(first, { posts: 1 });
    expect([first.reply(), second.reply()]).toEqual(Array(2).fill(`First this.${LONG}`));
  }),

  scenario('two tabs answer, one after the other', async (stage) => {
    const first = await stage.openNew();
    await first.say({ calls: [charge('c1')] }, { say: 'Fine.' });
    await first.untilAsked('c1');
    const second = await stage.load();
    await first.decide('c1', true);
    await stage.expectRight(first, { posts: 2 });
    await second.decide('c1', false);
    await stage.expectRight(second, { posts: 1 });
    expect(second.reply()).toBe('Fine.');
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),

  scenario('two tabs answer at once, not in the same way', async (stage) => {
    const first = await stage.openNew();
    await first.say({ calls: [charge('c1')] }, { say: 'Fine.' });
    await first.untilAsked('c1');
    const second = await stage.load();
    await second.untilAsked('c1');
    await Promise.all([first.decide('c1', true), second.decide('c1', false)]);
    await stage.expectRight(first, { posts: 2 });
    await stage.expectRight(second, { posts: 1 });
    const isCharged = first.calls()[0]?.state === 'output-available';
    expect(await stage.countCharges()).toEqual(isCharged ? { c1: 1 } : {});
  }),

  scenario('two tabs answer several calls at once, in other orders', async (stage) => {
    const first = await stage.openNew();
    const locate = { tool: 'locate', id: 'c3', args: {} };
    await first.say({ calls: [charge('c1'), charge('c2'), locate] }, { say: 'Fine.' });
    await first.untilAsked('c1');
    const second = await stage.load();
    await second.untilAsked('c1');
    await first.give('c3', 'locate', 'here');
    await second.give('c3', 'locate', 'there');
    await first.decide('c1', true);
    await second.decide('c2', true);
    await Promise.all([first.decide('c2', true), second.decide('c1', true)]);
    await stage.expectRight(first, { posts: 2 });
    await stage.expectRight(second, { posts: 1 });
    expect(await stage.countCharges()).toEqual({ c1: 1, c2: 1 });
  }),
];
