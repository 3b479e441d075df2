// Pictures of what people see, at three widths, light and dark: to be looked at before a release.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const SIZES = [
  [320, 640],
  [390, 780],
  [1280, 800],
];
const RICH = [
  'Here is **what I found**, with `code` and a [link](https://example.com):\n\n',
  '| Order | Status | Amount |\n|---|---|---|\n| 1042 | delivered | $48.50 |\n| 1043 | on its way | $7.00 |\n\n',
  '1. Look at the order\n2. Refund it\n\n```ts\nconst refund = await charge({ amount: 20 });\n```\n',
].join('');
const SCRIPTS = {
  rich: [
    { think: 'I look both orders up.', calls: ['e1', 'e2', 'e3'].map(echo) },
    { say: RICH, deltas: 3 },
  ],
  failed: [{ say: 'I begin to answer', fail: { status: 400, afterDeltas: 1 } }],
  asks: [
    {
      say: 'Where are you?',
      calls: [{ tool: 'locate', id: 'l1', args: { question: 'Which shop is near you?' } }],
    },
  ],
  'sub-agent': [
    {
      calls: [
        { tool: 'delegate', id: 'd1', args: { script: [{ say: 'I asked the warehouse.' }] } },
      ],
    },
    { say: 'The warehouse has it.' },
  ],
};

function echo(id) {
  return { tool: 'echo', id, args: { value: { order: 1042, items: ['lamp', 'shade'] } } };
}

/** Walks through chat and console once for each width and colour scheme. */
export async function walkPages({ browser, url, benchUrl, folder }) {
  mkdirSync(folder, { recursive: true });
  const page = await (await browser.newContext()).newPage();
  const refund = await askForRefund(page, url, 'walk-refund');
  const paid = await askForRefund(page, url, 'walk-paid');
  await page.getByTestId('approve').click();
  await untilStatus(page, 'ready');
  for (const [name, script] of Object.entries(SCRIPTS))
    await play(page, url, `walk-${name}`, script);
  const runId = await runOf(url, 'walk-paid');
  const places = {
    welcome: '/?agent=support',
    refund,
    paid,
    ...Object.fromEntries(
      Object.keys(SCRIPTS).map((name) => [name, `/?session=walk-${name}&agent=lab`]),
    ),
    'not-there': '/?session=a%2Fb',
    'console-waiting': '/console/waiting',
    'console-runs': '/console/runs',
    'console-run': `/console/runs/${runId}`,
    'console-usage': '/console/usage',
    'console-health': '/console/health',
  };
  for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme });
      const shown = await context.newPage();
      const take = (name) =>
        shown.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      for (const [name, place] of Object.entries(places)) {
        await shown.goto(url + place);
        await shown.locator('h1, h2').first().waitFor();
        await settle(shown);
        await take(name);
        if (name === 'refund') await takeMenus(shown, take);
        if (name === 'console-run') await takeStep(shown, take);
      }
      if (benchUrl !== undefined) {
        await shown.goto(benchUrl);
        await shown.frameLocator('#a').getByTestId('composer').waitFor();
        await take('bench');
      }
      await context.close();
    }
  }
}

/** The address of a conversation that waits for an approval. */
async function askForRefund(page, url, session) {
  const address = `/?session=${session}&agent=support`;
  await page.goto(url + address);
  await page.getByTestId('composer').fill('I want a refund of $20 for order 1042.');
  await page.getByTestId('send').click();
  await page.getByTestId('approve').waitFor();
  return address;
}

async function play(page, url, session, script) {
  await page.goto(`${url}/?session=${session}&agent=lab`);
  await page.getByTestId('composer').fill(JSON.stringify({ script }));
  await page.getByTestId('send').click();
  await page
    .locator(
      '[data-testid=status]:is([data-status=ready], [data-status=waiting], [data-status=failed]), [data-testid=error-line], [data-testid=run-error]',
    )
    .first()
    .waitFor();
}

const untilStatus = (page, status) =>
  page.locator(`[data-testid=status][data-status=${status}]`).waitFor();

async function runOf(url, session) {
  const { run } = await (await fetch(`${url}/api/chat/${session}/snapshot`)).json();
  return run.runId;
}

/** Streams of events stay open, so that a page is never without a request. */
async function settle(page) {
  await page.waitForLoadState('load');
  await page.evaluate(() => globalThis.document.fonts.ready);
  await page.waitForTimeout(600);
}

/** What stands behind buttons: the inbox, and on narrow screens list and menu. */
async function takeMenus(page, take) {
  const more = page.getByTestId('more');
  const isNarrow = await more.isVisible();
  if (isNarrow) {
    await page.getByTestId('list').click();
    await settle(page);
    await take('list');
    await page.keyboard.press('Escape');
    await more.click();
    await take('menu');
  }
  await page.getByTestId('inbox').click();
  await page.getByTestId('inbox-session').first().waitFor();
  await settle(page);
  await take('inbox');
}

async function takeStep(page, take) {
  await page.locator('[data-testid=span] button').first().click();
  await settle(page);
  await take('console-step');
}
