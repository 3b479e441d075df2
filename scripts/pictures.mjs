// `npm run pictures`: takes the pictures of docs/media from a running product: the chat page while it waits for
// an approval (light, dark, on a phone), its inbox, the console, and the finished run in the Temporal UI.
// `npm run pictures -- --all` puts pictures of all pages at three widths, light and dark, into .data/pictures.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { testEnvironment } from './engines/test-environment.mjs';
import { walkPages } from './pictures/walk-pages.mjs';
import { projectRoot } from './system/project.mjs';
import { runProduct } from './system/running-product.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const MEDIA = join(projectRoot, 'docs', 'media');
const QUESTION = 'I want a refund of $20 for order 1042.';
const DESKTOP = { viewport: { width: 1080, height: 700 }, deviceScaleFactor: 1.5 };
const PHONE = { viewport: { width: 390, height: 760 }, deviceScaleFactor: 2 };
const REFUND = 'refund-1042';

await runMain(async () => {
  const programs = await testEnvironment();
  if (!programs.CHROMIUM_PATH) throw new UserError('pictures need a Chromium');
  const folder = mkdtempSync(join(tmpdir(), 'helix-pictures-'));
  const takesAll = process.argv.includes('--all');
  const product = await runProduct(folder, programs, takesAll ? { CHAOS: '1' } : {});
  const browser = await chromium.launch({
    executablePath: programs.CHROMIUM_PATH,
    args: ['--no-sandbox'],
  });
  const open = async (look) => (await browser.newContext(look)).newPage();
  try {
    if (takesAll) {
      const { url, benchUrl } = product;
      await walkPages({ browser, url, benchUrl, folder: join(projectRoot, '.data', 'pictures') });
      return;
    }
    mkdirSync(MEDIA, { recursive: true });
    const page = await open(DESKTOP);
    await askForRefund(page, product.url);
    await page.screenshot({ path: join(MEDIA, 'chat.png') });
    await takeChat(await open({ ...DESKTOP, colorScheme: 'dark' }), product.url, 'chat-dark.png');
    await takeChat(await open(PHONE), product.url, 'chat-phone.png');
    await takeInbox(await open(DESKTOP), product.url);
    await takeConsole(await open(DESKTOP), product.url);
    const runId = await approve(page, product.url);
    await takeRun(await open(DESKTOP), product.temporalUiUrl, runId);
  } finally {
    await browser.close();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A refund that waits for its approval. */
async function askForRefund(page, url) {
  await page.goto(`${url}/?session=${REFUND}&agent=support`);
  await page.getByTestId('composer').fill(QUESTION);
  await page.getByTestId('send').click();
  await page.getByTestId('approve').waitFor();
}

async function takeChat(page, url, name) {
  await page.goto(`${url}/?session=${REFUND}&agent=support`);
  await page.getByTestId('approve').waitFor();
  await page.screenshot({ path: join(MEDIA, name) });
}

/** Everything of this user that waits, from a conversation without a message yet. */
async function takeInbox(page, url) {
  await page.goto(`${url}/?agent=support`);
  await page.getByTestId('inbox').click();
  await page.getByTestId('inbox-session').waitFor();
  await page.screenshot({ path: join(MEDIA, 'inbox.png') });
}

async function takeConsole(page, url) {
  await page.goto(`${url}/console/waiting`);
  await page.getByTestId('approve').waitFor();
  await page.screenshot({ path: join(MEDIA, 'console.png') });
}

/** Resolves to the id of the run, once it is completed. */
async function approve(page, url) {
  await page.getByTestId('approve').click();
  await page.locator('[data-testid=status][data-status=ready]').waitFor();
  const { run } = await (await fetch(`${url}/api/chat/${REFUND}/snapshot`)).json();
  return run.runId;
}

async function takeRun(page, temporalUiUrl, runId) {
  const workflowId = encodeURIComponent(`run:${runId}`);
  await page.setViewportSize({ width: 1280, height: 1060 });
  await page.goto(`${temporalUiUrl}/namespaces/default/workflows/${workflowId}`);
  await page.getByText('toolCall').first().waitFor({ timeout: 60_000 });
  await page.waitForLoadState('networkidle');
  // From its title on, without the menu on the left.
  const { y } = await page.getByRole('heading', { level: 1 }).first().boundingBox();
  const clip = { x: 210, y: y - 16, width: 1060, height: 1060 - y };
  await page.screenshot({ path: join(MEDIA, 'temporal.png'), clip });
}
