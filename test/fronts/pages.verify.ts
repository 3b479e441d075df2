import type { Browser } from 'playwright-core';
import { RegistryError } from '../../scripts/clients/npm.mjs';
import { installFront } from '../../scripts/clients/install-front.mjs';
import { shareBrowser } from '../support/page-driver.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';
import { buildFront, type BuiltFront } from './built-front.js';
import { openFront, type FrontPage } from './front-page.js';

// Tests the pages of examples/ in Chromium against the real product, each built by its own tools.
// All play a scenario in parallel, each in its own conversation.

/** The stock clients' code: no memory of sent answers, and no second connection. */
const STOCK = `import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';

export async function openConversation() {
  const id = new URL(location.href).searchParams.get('session');
  const response = await fetch(\`/api/chat/\${id}/snapshot\`);
  const { messages, status } = response.ok ? await response.json() : { messages: [], status: 'ended' };
  const options = {
    id,
    messages,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  };
  return { isOpen: status === 'active' || status === 'paused', options };
}
`;
const FRONTS: [title: string, name: string, changed: Record<string, string>][] = [
  ['Vue', 'vue', {}],
  ['Vue with a stock transport', 'vue', { 'src/conversation.js': STOCK }],
  ['Svelte', 'svelte', {}],
  ['Svelte with a stock transport', 'svelte', { 'src/conversation.js': STOCK }],
  ['assistant-ui', 'assistant-ui', {}],
  ['AI Elements', 'ai-elements', {}],
];
const missing = new Set<string>();
for (const name of new Set(FRONTS.map(([, front]) => front))) {
  await installFront(name).catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
    missing.add(name);
    process.stderr.write(`examples/${name} is not tested: ${error.message}\n`);
  });
}

const product = useProduct({ env: { DEFAULT_AGENT: 'lab' } });
const built = new Map<string, BuiltFront>();
let browser: Browser;
beforeAll(async () => {
  const there = FRONTS.filter(([, name]) => !missing.has(name));
  const builds = there.map(async ([title, name, changed]) => {
    built.set(title, await buildFront(name, product.url, changed));
  });
  [browser] = await Promise.all([shareBrowser(), ...builds]);
}, 120_000);
afterAll(async () => {
  for (const front of built.values()) front.close();
});

interface Stage {
  page: FrontPage;
  session: string;
  /** Opens the same conversation in a second browser. */
  openOther: () => Promise<FrontPage>;
}

const SCENARIOS: [title: string, play: (stage: Stage) => Promise<void>][] = [
  [
    'shows a reply while it is written, and whole after a reload in its middle',
    async ({ page }) => {
      const text = 'one two three four five six seven eight nine ten';
      await page.say({ say: text, deltas: 10, everyMs: 500 });
      await page.untilReplyHas('two');
      expect((await page.texts('assistant')).join()).not.toContain('ten');
      await page.reload();
      await page.untilReplyHas('ten');
      await expectAtRest(page, 1);
      expect(await page.texts('assistant')).toEqual([text]);
      await page.say({ say: 'And more.' });
      await page.untilReplyHas('And more.');
      await expectAtRest(page, 2);
      expect(await page.texts('user')).toHaveLength(2);
    },
  ],
  [
    'asks for an approval, still after a reload, and carries the call out once',
    async ({ page, session }) => {
      await page.say({ say: 'May I?', calls: [charge('c1')] }, { say: 'Paid.' });
      await untilAsked(page);
      await expectAtRest(page, 1);
      await page.reload();
      await untilAsked(page);
      await expectAtRest(page, 1);
      expect(await chargesOf(session)).toEqual([]);
      await page.click('Approve');
      await page.untilReplyHas('Paid.');
      await expectAtRest(page, 2);
      expect(await page.texts('assistant')).toEqual(['May I?Paid.']);
      expect(await page.count('Approve')).toBe(0);
      expect(await chargesOf(session)).toEqual(['1']);
    },
  ],
  [
    'denies one call and approves the next, each with one request',
    async ({ page, session }) => {
      await page.say({ calls: [charge('c1')] }, { calls: [charge('c2')] }, { say: 'So be it.' });
      await untilAsked(page);
      await page.click('Deny');
      await until('it has answered', () => page.posts() === 2, 30_000);
      await untilAsked(page);
      await expectAtRest(page, 2);
      await page.click('Approve');
      await page.untilReplyHas('So be it.');
      await expectAtRest(page, 3);
      expect(await chargesOf(session)).toEqual(['1']);
    },
  ],
  [
    'shows what was decided on another page when it answers as well',
    async ({ page, session, openOther }) => {
      await page.say({ say: 'May I?', calls: [charge('c1')] }, { say: 'Paid.' });
      await untilAsked(page);
      const other = await openOther();
      await untilAsked(other);
      await other.click('Approve');
      await other.untilReplyHas('Paid.');
      await expectAtRest(other, 1);
      await page.click('Deny');
      await page.untilReplyHas('Paid.');
      await expectAtRest(page, 2);
      expect(await page.texts('assistant')).toEqual(['May I?Paid.']);
      expect(await chargesOf(session)).toEqual(['1']);
    },
  ],
];

async function untilAsked(page: FrontPage): Promise<void> {
  await until('it asks', async () => (await page.count('Approve')) === 1, 30_000);
  await page.untilReady();
}

/** Expects that the page sends nothing more within several round trips. */
async function expectAtRest(page: FrontPage, posts: number): Promise<void> {
  await page.untilReady();
  for (let trips = 0; trips < 5; trips += 1) await fetch(`${product.url}/healthz`);
  expect(page.posts()).toBe(posts);
  expect(await page.faults()).toEqual([]);
}

async function chargesOf(session: string): Promise<string[]> {
  const all = Object.entries(await product.redis.hgetall('lab:charges'));
  return all.filter(([key]) => key.startsWith(`${session}:`)).map(([, count]) => count);
}

describe.each(SCENARIOS)('%s', (_title, play) => {
  const outcomes = new Map<string, Promise<void>>();
  beforeAll(async () => {
    for (const [title, { url }] of built) outcomes.set(title, perform(play, url));
    await Promise.allSettled(outcomes.values());
  }, 90_000);

  for (const [title, name] of FRONTS)
    (missing.has(name) ? it.skip : it)(title, () => outcomes.get(title));
});

async function perform(play: (stage: Stage) => Promise<void>, url: string): Promise<void> {
  const session = newSessionId();
  const pages: FrontPage[] = [];
  const open = async (): Promise<FrontPage> => {
    const page = await openFront(browser, url, session);
    pages.push(page);
    return page;
  };
  try {
    await play({ page: await open(), session, openOther: open });
  } finally {
    for (const page of pages) await page.close();
  }
}
