// `npm run pictures`: takes the pictures of docs/media from a running product: the chat page while
// it waits for an approval, and the finished run in the Temporal UI.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { testEnvironment } from './engines/test-environment.mjs';
import { projectRoot } from './system/project.mjs';
import { runProduct } from './system/running-product.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const MEDIA = join(projectRoot, 'docs', 'media');
const QUESTION = 'I want a refund of $20 for order 1042.';

await runMain(async () => {
  const programs = await testEnvironment();
  if (!programs.CHROMIUM_PATH) throw new UserError('pictures need a Chromium');
  const folder = mkdtempSync(join(tmpdir(), 'helix-pictures-'));
  const product = await runProduct(folder, programs);
  const browser = await chromium.launch({
    executablePath: programs.CHROMIUM_PATH,
    args: ['--no-sandbox'],
  });
  try {
    mkdirSync(MEDIA, { recursive: true });
    const context = await browser.newContext({
      viewport: { width: 1080, height: 700 },
      deviceScaleFactor: 1.5,
    });
    const runId = await takeChat(await context.newPage(), product.url);
    await takeRun(await context.newPage(), product.temporalUiUrl, runId);
  } finally {
    await browser.close();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A refund that waits for its approval; returns the id of the run, approved and completed. */
async function takeChat(page, url) {
  const sessionId = 'refund-1042';
  await page.goto(`${url}/?session=${sessionId}&agent=support`);
  await page.getByTestId('composer').fill(QUESTION);
  await page.getByTestId('send').click();
  await page.getByTestId('approve').waitFor();
  await page.screenshot({ path: join(MEDIA, 'chat.png') });
  await page.getByTestId('approve').click();
  await page.locator('[data-testid=status][data-status=ready]').waitFor();
  const { run } = await (await fetch(`${url}/api/chat/${sessionId}/snapshot`)).json();
  return run.runId;
}

async function takeRun(page, temporalUiUrl, runId) {
  const workflowId = encodeURIComponent(`run:${runId}`);
  await page.setViewportSize({ width: 1280, height: 1060 });
  await page.goto(`${temporalUiUrl}/namespaces/default/workflows/${workflowId}`);
  await page.getByText('toolCall').first().waitFor({ timeout: 60_000 });
  await page.waitForLoadState('networkidle');
  // Without the menu on the left.
  const clip = { x: 210, y: 84, width: 1060, height: 956 };
  await page.screenshot({ path: join(MEDIA, 'temporal.png'), clip });
}
