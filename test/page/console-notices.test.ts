import { readFileSync } from 'node:fs';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { openConsole, openTab, type ConsolePage } from '../support/page-driver.js';
import { ask } from '../support/lab-run.js';
import { startReceiver, type NoticeReceiver } from '../support/notice-receiver.js';
import { createSignIn, json, SECRET, signToken } from '../support/people.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** Notices' links in Chromium: of the channels of an example, and one to a named person. */
const EXAMPLE = new URL('../../examples/approvals-slack/receivers.json', import.meta.url);
/** This test's servers in place of Slack's, by the names of the example's channels. */
const channels = new Map<string, NoticeReceiver>();
let ann: NoticeReceiver;
let product: Product;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  ann = await startReceiver();
  const example = JSON.parse(readFileSync(EXAMPLE, 'utf8')) as { name: string }[];
  for (const { name } of example) channels.set(name, await startReceiver());
  const secrets = [`whsec_${'a'.repeat(32)}`];
  const approver = { userId: 'ann' };
  product = await startProduct({
    env: {
      JWT_SECRET: SECRET,
      JWT_ROLES_CLAIM: 'realm_access.roles',
      DEFAULT_AGENT: 'support',
      LAB: '1',
      PUBLIC_URL: 'https://chat.test',
      NOTIFY_ESCALATE_AFTER: '2s',
      NOTIFY_LINK_KEY: 'k'.repeat(32),
      NOTIFY_RECEIVERS: JSON.stringify([
        ...example.map((each) => ({
          ...each,
          url: channels.get(each.name)?.url,
          privateNetwork: true,
        })),
        {
          name: 'ann',
          kind: 'webhook',
          url: ann.url,
          privateNetwork: true,
          secrets,
          tenant: 'acme',
          approver,
        },
      ]),
    },
  });
}, 120_000);
afterAll(async () => {
  for (const close of open) await close();
  await product.stop();
  await Promise.all([...channels.values(), ann].map((each) => each.close()));
});

interface SlackMessage {
  text: string;
  blocks: { type: string; elements?: { text: { text: string }; url: string }[] }[];
}

const REFUND = `I want a refund for order ${EXAMPLE_ORDER_ID}, please.`;
const CHARGE = JSON.stringify({ script: [ask('charge', { amount: 5 }), { say: 'well' }] });

/** Asks as a customer; returns the conversation's id. A customer's second notice waits a minute. */
async function begin(customer: string, agent: 'support' | 'lab', content: string): Promise<string> {
  const sessionId = newSessionId();
  const signedIn = await createSignIn(() => product.url)(customer, 'acme');
  const message = { id: 'u1', role: 'user', content };
  const reply = await signedIn.post(`chat/${sessionId}?agent=${agent}`, { message });
  expect(reply.status).toBe(200);
  await reply.text();
  return sessionId;
}

/** Waits for a channel's message about a conversation; each is about one. */
function heard(name: string, sessionId: string): Promise<SlackMessage> {
  return until(`the channel ${name} hears of it`, async () =>
    (channels.get(name)?.taken ?? [])
      .map(({ body }) => JSON.parse(body) as SlackMessage)
      .find((message) => JSON.stringify(message).includes(sessionId)),
  );
}

/** Returns the address of the button in the channel's message, without the host. */
async function channelLink(sessionId: string): Promise<string> {
  const { blocks } = await heard('desk', sessionId);
  return new URL(blocks.at(-1)?.elements?.[0]?.url ?? '').pathname;
}

async function openAs(authorization: string, address: string): Promise<ConsolePage> {
  const proxy = await startSigningProxy(() => product.url, authorization);
  open.push(proxy.close);
  return openConsole(proxy.url, address);
}

async function statusOf(sessionId: string): Promise<string> {
  const lead = await createSignIn(() => product.url)('olga', 'acme', 'operator');
  const { run } = await json<{ run: { status: string } }>(
    lead.get(`operator/sessions/${sessionId}`),
  );
  return run.status;
}

it('a refund that waits is shown in the channel, and to those on call if no answer comes', async () => {
  const sessionId = await begin('cyra', 'support', REFUND);
  const message = await heard('desk', sessionId);
  expect(message.text).toMatch(/Support asks for approval: Refund an order/);
  expect(message.blocks.at(-1)).toMatchObject({
    type: 'actions',
    elements: [
      {
        type: 'button',
        text: { type: 'plain_text', text: 'Open question' },
        url: `https://chat.test/console/waiting/${sessionId}`,
      },
    ],
  });
  expect((await heard('on-call', sessionId)).text).toMatch(/Support has no answer yet/);
  const ofDesk = channels.get('desk')?.taken.filter(({ body }) => body.includes(sessionId));
  expect(ofDesk).toHaveLength(1);
});

it("a colleague follows the channel's link, approves with one more click, and sees the effect", async () => {
  const sessionId = await begin('carl', 'support', REFUND);
  const link = await channelLink(sessionId);
  const console = await openAs(await signToken('lea', 'acme', ['approver']), link);
  await console.click('approve');
  await console.at('empty').waitFor();
  await until('the run is over', async () => (await statusOf(sessionId)) === 'completed');
  await console.leave();
});

it('the owner, who has no role, may follow it too; another customer is shown nothing', async () => {
  const sessionId = await begin('cora', 'lab', CHARGE);
  const link = await channelLink(sessionId);
  const other = await openAs(await signToken('nora', 'acme'), link);
  expect(await other.at('problem').textContent()).toBe(
    'This conversation does not exist, or is not yours to see.',
  );
  expect(await other.at('question').count()).toBe(0);
  const owner = await openAs(await signToken('cora', 'acme'), link);
  await owner.click('deny');
  await owner.at('empty').waitFor();
  await until('the run is over', async () => (await statusOf(sessionId)) === 'completed');
});

it('the page of a link that decides is accessible, small enough for phones, and decides once', async () => {
  const sessionId = await begin('cleo', 'support', REFUND);
  const { data } = await ann.untilTaken(sessionId, 'approval.requested');
  const { pathname, search } = new URL(String(data['decideUrl']));
  const { page, leave } = await openTab(product.url + pathname + search);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await findBarriers(page)).toEqual([]);
  expect(await findOverflow(page)).toEqual([]);
  expect(await page.locator('pre').textContent()).toContain(EXAMPLE_ORDER_ID);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.goto(product.url + pathname + search);
  await page.getByText('This question has been answered.').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await until('the run is over', async () => (await statusOf(sessionId)) === 'completed');
  await leave();
}, 60_000);
