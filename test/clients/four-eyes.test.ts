import type { OperatorWaiting } from '../../protocol/operator.js';
import { createSignIn, json, outcome, signToken } from '../support/people.js';
import { useLocalProduct } from '../support/local-product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';
import { startBrowser, type Browser, type Kit } from './browser.js';
import { clients, PLAYS_ALL } from './clients.js';
import { openStage, type Stage } from './stage.js';
import type { Tab } from './tab.js';
import { parseParts } from './wire-parts.js';

// Real clients of many versions, whose user may not decide the pending call of the conversation.

const STRICTEST = ['6.0.0', '7.0.0'];
const KITS: Kit[] = ['stock', 'no-cookies', 'resumable', 'agent-server'];
const product = useLocalProduct({ hasAccounts: true });
const signIn = createSignIn(() => product.url);
const browsers = new Map<string, Browser>();
const outcomes = new Map<string, Promise<void>>();
let proxy: Awaited<ReturnType<typeof startSigningProxy>>;

beforeAll(async () => {
  proxy = await startSigningProxy(() => product.url, await signToken('cora', undefined));
  for (const browser of await Promise.all(clients.map(startBrowser))) {
    browsers.set(browser.client.name, browser);
  }
  // Cases mostly wait, so all run concurrently.
  for (const of of cases) outcomes.set(of.join(' '), run(...of));
  await Promise.allSettled(outcomes.values());
}, 300_000);
afterAll(async () => {
  await Promise.all([...browsers.values()].map((browser) => browser.close()));
  await proxy.close();
});

const REFUND = { text: 'I want a refund for order 1042 please' };

const refundOf = (tab: Tab) => tab.calls().find(({ toolName }) => toolName === 'refund');

/** Expects a resting page that shows the call, asks nothing, and has sent this many posts. */
async function expectAtRest({ tab, posts }: { tab: Tab; posts: number }): Promise<void> {
  await tab.untilShown('the refund', () => refundOf(tab)?.state === 'input-available');
  await tab.untilRests();
  expect(tab.view).toMatchObject({ status: 'ready', errors: [] });
  expect(refundOf(tab)).not.toHaveProperty('approval');
  expect(tab.posts()).toBe(posts);
}

async function play(stage: Stage, kit: Kit, approved: boolean): Promise<void> {
  const tab = await stage.openNew();
  await tab.act('sendMessage', REFUND);
  await expectAtRest({ tab, posts: 1 });
  // A page that is loaded now shows the same and sends nothing.
  const second = await stage.load();
  await expectAtRest({ tab: second, posts: 0 });

  const colleague = await signIn('lea', undefined, 'approver');
  const toolCallId = refundOf(tab)?.toolCallId ?? '';
  const path = `operator/waiting/${stage.sessionId}/${toolCallId}`;
  // The call's id alone decides nothing: the call may have changed meanwhile.
  const waiting = `operator/waiting?session=${stage.sessionId}`;
  const { sessions } = await json<OperatorWaiting>(colleague.get(waiting));
  const { approvalId, inputHash } = sessions[0]?.pending[0] ?? {};
  expect(await outcome(colleague.post(path, { approved }))).toEqual([409, 'not_pending']);
  const shown = { approved, approvalId, inputHash };
  expect(await outcome(colleague.post(path, shown))).toEqual([202]);
  await until('the run has ended', async () => (await stage.stored()).status === 'ended');
  const later = await stage.load();
  const state = approved ? 'output-available' : 'output-denied';
  await later.untilShown('the outcome', () => refundOf(later)?.state === state);
  await stage.expectRight(later, { posts: 0 });
  // Pages that were open have sent nothing since.
  expect(tab.posts()).toBe(1);
  expect(second.posts()).toBe(0);
  // The person sends another message with the old copy of the conversation.
  await tab.act('sendMessage', { text: 'thank you' });
  await tab.untilRests();
  expect(tab.view).toMatchObject({ status: 'ready', errors: [] });
  if (kit !== 'agent-server') expect(tab.posts()).toBe(2);
}

/** With `--all` everything; else each kit once, and stock pages by each client, with either decision. */
const cases = KITS.flatMap((kit, nth) =>
  clients.flatMap(({ name }, at) =>
    [true, false]
      .filter((approved) => PLAYS_ALL || approved === ((Math.floor(nth / 2) + at) % 2 === 0))
      .filter(() => PLAYS_ALL || kit === 'stock' || at === nth % clients.length)
      .map((approved) => [kit, approved, name] as const),
  ),
);

it.each(cases)('%s, and the colleague decides %s: %s', (...of) => outcomes.get(of.join(' ')));

async function run(kit: Kit, approved: boolean, client: string): Promise<void> {
  const browser = browsers.get(client);
  if (browser === undefined) throw new Error(`no browser of ${client}`);
  const behind = new Proxy(product, {
    get: (of, name): unknown => (name === 'url' ? proxy.url : Reflect.get(of, name)),
  });
  const stage = openStage(browser, behind, kit, 'support');
  try {
    await play(stage, kit, approved);
    const logs = (await stage.readLogs()).filter(({ url }) => !url.includes('/api/agent/'));
    const parts = logs.flatMap(({ raw }) => parseParts(raw));
    for (const strict of browsers.values()) {
      if (STRICTEST.includes(strict.client.ai)) expect(await strict.validate(parts)).toEqual([]);
    }
  } catch (error) {
    const log = (await stage.readLogs()).map(({ body: _body, ...request }) =>
      JSON.stringify(request),
    );
    throw new Error(`${String(error)}\n${log.join('\n').slice(0, 4_000)}`, { cause: error });
  } finally {
    await stage.close();
  }
}
