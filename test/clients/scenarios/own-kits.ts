import { charge } from '../../support/lab-calls.js';
import type { Kit } from '../browser.js';
import { madeWith, scenario, type Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';

/** Basic scenarios, which also run on pages with this package's hook and transports. */
export const SHARED = new Set([
  'text',
  'server tools',
  'a failed run',
  'approve',
  'deny',
  'client tool and approval in one step',
  'reload at boundaries of a turn',
  'reload at boundaries of what follows an approval',
  'reload that comes back after the end',
  'reload that comes back after the question',
  'two tabs answer, one after the other',
  'stop in the middle of a reply',
  'stop by a button that hangs up as well',
  'regenerate',
  'regenerate an older reply',
]);

const LONG = 'Nothing of this may be lost or doubled, by any viewer. '.repeat(4);
const slowly = { say: LONG, deltas: 30, everyMs: 30 };
const locate = (id: string): object => ({ tool: 'locate', id, args: {} });
const answers = { locate: { lat: 1 } };

const ownOnly = [
  scenario('a connection that breaks, twice', async (stage) => {
    const tab = await stage.openNew();
    await tab.say(slowly);
    for (const length of [10, 60]) {
      await tab.untilShown('some text', () => tab.reply().length > length);
      await tab.drop();
    }
    await stage.expectRight(tab, { posts: 1 });
    expect(tab.reply()).toBe(LONG);
  }),

  scenario('a connection that breaks while the page follows an answer', async (stage) => {
    const tab = await stage.openNew();
    await tab.say({ say: 'May I?', calls: [charge('c1')] }, slowly);
    await tab.decide('c1', true);
    await tab.untilShown('some text', () => tab.reply().length > 20);
    await tab.drop();
    await stage.expectRight(tab, { posts: 2 });
    expect(tab.reply()).toBe(`May I?${LONG}`);
    expect(await stage.countCharges()).toEqual({ c1: 1 });
  }),

  scenario('a connection that breaks after a reload', async (stage) => {
    const first = await stage.openNew();
    await first.say(slowly);
    await first.untilShown('some text', () => first.reply().length > 10);
    await first.close();
    const tab = await stage.load();
    await tab.untilShown('some text', () => tab.reply().length > 30);
    await tab.drop();
    await stage.expectRight(tab, { posts: 0 });
    expect(tab.reply()).toBe(LONG);
  }),

  scenario('client tools that the page carries out', async (stage) => {
    const tab = await stage.openNew({ answers });
    await tab.say({ say: 'Where?', calls: [locate('c1'), locate('c2'), charge('c3')] });
    await tab.untilAsked('c3');
    await tab.untilShown('both results', () => outputs(tab).length === 2);
    await tab.decide('c3', true);
    await tab.untilShown('the reply', () => tab.reply() === 'Where?done');
    await stage.expectRight(tab, { posts: 2 });
    expect(outputs(tab)).toMatchObject([{ lat: 1 }, { lat: 1 }, { charged: 5 }]);
  }),

  scenario('client tool that waited for the page to be loaded', async (stage) => {
    const first = await stage.openNew();
    await first.say({ calls: [locate('c1')] }, { calls: [locate('c2')] }, { say: 'Both found.' });
    await first.untilShown('the call', () => first.calls().length > 0);
    await first.untilRests();
    await first.close();
    const tab = await stage.load({ answers });
    await tab.untilShown('the reply', () => tab.reply() === 'Both found.');
    await stage.expectRight(tab, { posts: 2 });
    expect(outputs(tab)).toEqual([{ lat: 1 }, { lat: 1 }]);
  }),
];

function outputs(tab: Awaited<ReturnType<Stage['load']>>): unknown[] {
  return tab.calls().flatMap((call) => (call.state === 'output-available' ? [call.output] : []));
}

/** Scenarios that depend on the form of calls on a page. */
const OF_CALLS = new Set([
  'server tools',
  'approve',
  'deny',
  'client tool and approval in one step',
  'reload at boundaries of a turn',
]);

/** Returns scenarios for stock pages that ask for parts `tool-<name>`. */
export function withStaticParts(stock: readonly Scenario[]): Scenario[] {
  const chosen = stock.filter(({ name }) => OF_CALLS.has(name));
  expect(chosen).toHaveLength(OF_CALLS.size);
  return chosen.map((each) => madeWith('static-parts', each));
}

const KITS: readonly Kit[] = ['resumable', 'agent-server'];

export function withOwnKits(stock: readonly Scenario[]): Scenario[] {
  const shared = stock.filter(({ name }) => SHARED.has(name));
  expect(shared).toHaveLength(SHARED.size);
  return KITS.flatMap((kit) => [...shared, ...ownOnly].map((each) => madeWith(kit, each)));
}
