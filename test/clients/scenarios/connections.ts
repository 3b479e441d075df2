import { charge } from '../../support/lab-calls.js';
import { until } from '../../support/until.js';
import { scenario, type Play, type Scenario } from '../scenario.js';
import { expectSame, type Stage } from '../stage.js';
import type { Tab } from '../tab.js';
import { addsReplayAfterDrop, addsReplayToCopy, reconnectsWhenShown } from '../versions.js';

const LONG = 'Nothing of this may be lost or doubled, by any viewer. '.repeat(4);
const slowly = { say: LONG, deltas: 30, everyMs: 30 };
const errors = ['network error'];

/** Keeps the turn active until it is stopped. */
const working = {
  say: LONG,
  deltas: 20,
  everyMs: 5,
  calls: [{ tool: 'sleep', id: 's1', args: { ms: 60_000 } }],
};

/** Opens a page and breaks its connection after some text. */
async function openDropped(stage: Stage): Promise<Tab> {
  const tab = await stage.openNew({ resume: true });
  await tab.untilRests();
  await tab.limit({ parts: 6 });
  await tab.say(working);
  await tab.untilShown('some text', () => tab.reply().length > 10);
  await tab.drop();
  await tab.untilShown('the error', () => tab.view.status === 'error');
  await tab.limit({ parts: 10_000 });
  return tab;
}

/** Waits for a replay; the page may have had all text before its connection broke. */
async function untilToldAgain(tab: Tab): Promise<void> {
  await tab.untilShown('the replay', () => {
    const { method, status } = tab.view.requests.at(-1) ?? {};
    return method === 'GET' && status === 200 && tab.reply().endsWith(LONG);
  });
}

/** Expects a page that appended a replay to its text; a reload puts it right. */
async function expectDoubled(stage: Stage, tab: Tab): Promise<void> {
  await untilToldAgain(tab);
  await stage.stop();
  await tab.untilRests();
  expect(tab.reply().length).toBeGreaterThan(LONG.length);
  expect(tab.view.messages).toHaveLength(2);
  const later = await stage.load();
  await stage.expectRight(later, { posts: 0 });
}

const ADDS = 'what it resumes with is what it has, and it adds the replay to that';

const resumeOnSamePage =
  (
    ask: (tab: Tab) => Promise<void>,
    expectOutcome: (stage: Stage, tab: Tab) => Promise<void>,
  ): Play =>
  async (stage) => {
    const tab = await openDropped(stage);
    await ask(tab);
    await expectOutcome(stage, tab);
  };

const resume = (tab: Tab): Promise<void> => tab.act('resumeStream');
const show = (tab: Tab): Promise<void> => tab.show();

async function expectWhole(stage: Stage, tab: Tab): Promise<void> {
  await untilToldAgain(tab);
  await stage.stop();
  await stage.expectRight(tab, { posts: 1, errors });
}

async function expectNothing(stage: Stage, tab: Tab): Promise<void> {
  await stage.stop();
  await tab.untilRests();
  expect(tab.view.status).toBe('error');
  expect(tab.view.requests).toHaveLength(2);
  const later = await stage.load();
  await stage.expectRight(later, { posts: 0 });
}

/** Drops a page's connection in the middle of the step after the call. */
async function dropInTheMiddle(
  stage: Stage,
  call: object,
  answer: (tab: Tab) => Promise<void>,
): Promise<Tab> {
  const tab = await stage.openNew();
  await tab.say({ calls: [call] }, slowly);
  await tab.untilShown('the call', () => tab.view.status === 'ready' && tab.calls().length > 0);
  await tab.limit({ parts: 8 });
  await answer(tab);
  await tab.untilShown('some text', () => tab.reply().length > 10);
  await tab.drop();
  await tab.untilShown('the error', () => tab.view.status === 'error');
  await tab.limit({ parts: 10_000 });
  return tab;
}

/** Expects a repeated request to be refused without changing the page; a reload puts it right. */
async function expectRefused(stage: Stage, tab: Tab): Promise<void> {
  const before = tab.view.messages;
  await tab.act('sendMessage');
  await tab.untilShown('the refusal', () => tab.view.errors.length === 2);
  await tab.untilRests();
  const refused = (await tab.readLog()).at(-1);
  expect(refused).toMatchObject({ method: 'POST', status: 409 });
  expect(refused?.raw).toContain('"client_out_of_step"');
  expectSame(tab.view.messages, before);
  await tab.close();
  const later = await stage.load();
  await later.untilShown('all', () => later.reply() === LONG);
  await stage.expectRight(later, { posts: 0 });
}

export const connections: Scenario[] = [
  scenario('drop of the network, and the page is loaded again', async (stage) => {
    const tab = await openDropped(stage);
    expect(tab.view.errors).toEqual(errors);
    await tab.close();
    const later = await stage.load();
    await later.untilShown('all', () => later.reply() === LONG);
    await stage.stop();
    await stage.expectRight(later, { posts: 0 });
  }),

  scenario('drop of the network, and the page resumes after the end', async (stage) => {
    const tab = await openDropped(stage);
    const before = tab.view.messages;
    await stage.stop();
    // The session remembers each page that saw an active turn, so no page may read now.
    await until('the end', async () => (await stage.storedStream()) === 'ended');
    await tab.act('resumeStream');
    await tab.untilShown('the answer', () => tab.view.requests.at(-1)?.status === 204);
    await tab.untilRests();
    // The request does not say how much the page has, so a turn at rest is not replayed.
    expectSame(tab.view.messages, before);
    const later = await stage.load();
    await stage.expectRight(later, { posts: 0 });
    expect(later.reply().startsWith(tab.reply())).toBe(true);
  }),

  scenario('drop of the network, and the page resumes', resumeOnSamePage(resume, expectWhole), [
    {
      of: (client) => addsReplayToCopy(client) || addsReplayAfterDrop(client),
      reason: ADDS,
      play: resumeOnSamePage(resume, expectDoubled),
    },
  ]),

  {
    ...scenario(
      'drop of the network, and the page is looked at',
      resumeOnSamePage(show, expectWhole),
      [
        {
          of: (client) => reconnectsWhenShown(client) && addsReplayAfterDrop(client),
          reason: ADDS,
          play: resumeOnSamePage(show, expectDoubled),
        },
        {
          of: (client) => !reconnectsWhenShown(client),
          reason: 'it does not reconnect automatically',
          play: resumeOnSamePage(show, expectNothing),
        },
      ],
    ),
    // Showing one page wakes all pages of its browser.
    isAlone: true,
  },

  scenario('drop of what follows an answer before it came, sent again', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ calls: [charge('c1')] }, slowly);
    await tab.untilAsked('c1');
    await tab.limit({ parts: 1 });
    await tab.decide('c1', true);
    await tab.untilShown('the line stands still', () => tab.view.requests.at(-1)?.isHeld);
    await tab.drop();
    await tab.untilShown('the error', () => tab.view.status === 'error');
    await tab.limit({ parts: 10_000 });
    await tab.act('sendMessage');
    await tab.untilShown('all', () => tab.reply() === LONG);
    await stage.expectRight(tab, { posts: 3, errors });
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),

  scenario('drop of what follows a result in the middle, sent again', async (stage) => {
    const tab = await dropInTheMiddle(stage, { tool: 'locate', id: 'c1', args: {} }, (open) =>
      open.give('c1', 'locate', 'here'),
    );
    // The available tail begins before the page's text, so the page must be loaded again.
    await expectRefused(stage, tab);
  }),

  scenario('drop of what follows an answer in the middle, sent again', async (stage) => {
    const tab = await dropInTheMiddle(stage, charge('c1'), (open) => open.decide('c1', true));
    await expectRefused(stage, tab);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),

  scenario('a reply that is withdrawn', async (stage) => {
    const tab = await stage.openNew();
    const fail = { status: 500, retryAfterMs: 50, afterDeltas: 8, times: 1 };
    await tab.say({ ...slowly, fail });
    await tab.untilShown('the error', () => tab.view.status === 'error');
    // Proxies pass an orderly end on, and the event before it says that the reply is incomplete.
    expect(tab.view.requests.at(-1)).toMatchObject({ method: 'POST', end: 'ended' });
    expect(tab.view.data).toEqual(
      expect.arrayContaining(['data-step-discarded', 'data-stream-resync']),
    );
    await tab.close();
    const later = await stage.load();
    await later.untilShown('all', () => later.reply() === LONG);
    await stage.expectRight(later, { posts: 0 });
  }),

  scenario('every POST comes twice', async (stage) => {
    const tab = await stage.openNew();
    await tab.limit({ twice: true });
    await tab.say({ say: 'May I?', calls: [charge('c1')] }, slowly);
    await tab.decide('c1', true);
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.reply()).toBe(`May I?${LONG}`);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),
];
