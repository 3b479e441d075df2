// `npm run bench:page`: what the pages weigh, and how the chat page does with a conversation of 500 messages, in Chromium: first paint, and the
// time between frames while people scroll and while a reply is written.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { MOST_BYTES, pageSizes } from './bench/page-size.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { projectRoot } from './system/project.mjs';
import { runProduct } from './system/running-product.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const MESSAGES = 500;
const MEASURED_MS = 5_000;

await runMain(async () => {
  const programs = await testEnvironment();
  if (!programs.CHROMIUM_PATH) throw new UserError('this needs a Chromium');
  const folder = mkdtempSync(join(tmpdir(), 'helix-page-'));
  const product = await runProduct(folder, programs);
  const browser = await chromium.launch({
    executablePath: programs.CHROMIUM_PATH,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const [page, bytes] of Object.entries(pageSizes(join(projectRoot, 'dist', 'web')))) {
      process.stdout.write(
        `${page}: ${kB(bytes)} of scripts compressed, at most ${kB(MOST_BYTES[page])}\n`,
      );
    }
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await measure(page, `${product.url}/?session=long&agent=lab`);
  } finally {
    await browser.close();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function measure(page, address) {
  const snapshot = { messages: conversation(), state: null, streamSequence: 0, status: 'ended' };
  await page.route('**/snapshot*', (route) =>
    route.fulfill({ json: { ...snapshot, checkpointId: null, timestamp: 0 } }),
  );
  await page.goto(address);
  await page
    .getByTestId('message')
    .nth(MESSAGES - 1)
    .waitFor();
  const shownMs = await page.evaluate(() => performance.now());
  // Until its reader has been loaded, Markdown is shown as it was written.
  await page
    .locator('[data-role=assistant] table')
    .nth(MESSAGES / 2 - 1)
    .waitFor();
  const readMs = await page.evaluate(() => performance.now());
  const paint = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0].startTime,
  );
  process.stdout.write(
    `first paint ${ms(paint)}, ${MESSAGES} messages shown ${ms(shownMs)}, as Markdown ${ms(readMs)}\n`,
  );
  await report('scrolling', page, true);
  const script = [{ say: 'word and **more** text, '.repeat(600), deltas: 1_500, everyMs: 10 }];
  await page.getByTestId('composer').fill(JSON.stringify({ script }));
  await page.getByTestId('send').click();
  await page.locator('[data-testid=status][data-status=streaming]').waitFor();
  await report('a reply is written', page, false);
  await report('a reply is written, scrolling', page, true);
}

async function report(what, page, scrolls) {
  const gaps = await page.evaluate(frameGaps, { scrolls, forMs: MEASURED_MS });
  gaps.sort((a, b) => a - b);
  const perSecond = gaps.length / (MEASURED_MS / 1_000);
  const at = (share) => ms(gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))]);
  process.stdout.write(
    `${what}: ${perSecond.toFixed(1)} frames a second (aim 60), p50 ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}\n`,
  );
}

/** In the page: the times between frames, ms. */
function frameGaps({ scrolls, forMs }) {
  const { document, requestAnimationFrame } = globalThis;
  const box = document.querySelector('.transcript');
  const gaps = [];
  const end = performance.now() + forMs;
  let last;
  return new Promise((resolve) => {
    requestAnimationFrame(function onFrame(time) {
      if (last !== undefined) gaps.push(time - last);
      last = time;
      // Up for a second, then down for one.
      if (scrolls) box.scrollTop += Math.floor(gaps.length / 60) % 2 === 0 ? -60 : 60;
      if (performance.now() < end) requestAnimationFrame(onFrame);
      else resolve(gaps);
    });
  });
}

function conversation() {
  return Array.from({ length: MESSAGES }, (_, at) =>
    at % 2 === 0
      ? { id: `u${at}`, role: 'user', parts: [{ type: 'text', text: `Question ${at}` }] }
      : {
          id: `msg-${at}`,
          role: 'assistant',
          parts: [call(at), { type: 'text', text: reply(at) }],
        },
  );
}

function call(at) {
  const values = { input: { value: at }, output: { value: at } };
  const named = { type: 'dynamic-tool', toolName: 'echo', toolCallId: `c${at}` };
  return { ...named, ...values, state: 'output-available', providerExecuted: true };
}

function reply(at) {
  return [
    `## Reply ${at}`,
    'Some **bold** text with `code`, a [link](https://example.com) and a list:',
    `- one thing of ${at}\n- another thing`,
    `| a | b |\n|---|---|\n| 1 | ${at} |`,
    '```ts\nconst x = 1;\n```',
    'And a sentence that is long enough to wrap on most of the screens that people read it on.',
  ].join('\n\n');
}

function kB(bytes) {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}
