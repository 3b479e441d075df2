// `npm run film`: plays the chaos bench in Chromium, and keeps what it shows as an animation and stills
// in docs/media. It ends with an error if a word was lost or doubled. Needs ffmpeg (Debian has it).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { testEnvironment } from './engines/test-environment.mjs';
import { judge, readNumbers } from './start/chaos/count-words.js';
import { waitUntil } from './start/wait-until.mjs';
import { projectRoot } from './system/project.mjs';
import { runCommand } from './system/run-command.mjs';
import { runProduct } from './system/running-product.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const MEDIA = join(projectRoot, 'docs', 'media');
const GIVEN_UP = join(projectRoot, '.data', 'film');
const STEP_MS = 60_000;
const FRAMES_PER_SECOND = 5;
const SIZE = { width: 1200, height: 760 };

await runMain(async () => {
  const programs = await testEnvironment();
  if (!programs.CHROMIUM_PATH) throw new UserError('the film needs a Chromium');
  const folder = mkdtempSync(join(tmpdir(), 'helix-film-'));
  const product = await runProduct(folder, programs, { CHAOS: '1', LAB: '1' });
  const browser = await chromium.launch({
    executablePath: programs.CHROMIUM_PATH,
    args: ['--no-sandbox'],
  });
  try {
    mkdirSync(MEDIA, { recursive: true });
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(product.benchUrl);
    const frames = await record(page, folder, () => play(page)).catch(async (error) => {
      await tellWhatWasThere(page, product);
      throw error;
    });
    await animate(folder, frames);
  } finally {
    await browser.close();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** What is done, and seen: worker, API, network, Redis and Temporal go away in one reply, which is then stopped. */
async function play(page) {
  const count = async (id) => Number(await page.locator(`#${id}`).textContent());
  const until = async (what, isTrue) => {
    if (!(await waitUntil(isTrue, { withinMs: STEP_MS }))) throw new UserError(`not seen: ${what}`);
  };
  const click = (act) => page.locator(`[data-act=${act}]`).click();
  /** As the bench saw them at any time of the reply. */
  const countFaults = async (what) => {
    const [lost, doubled] = [await count('lost'), await count('doubled')];
    process.stdout.write(`${what}: ${lost} words lost, ${doubled} doubled\n`);
    if (lost + doubled > 0) throw new UserError('a word was lost or doubled');
  };
  const inDevice = (id) => page.frameLocator(`#${id}`);
  await inDevice('a').getByTestId('composer').waitFor();
  await click('start');
  await until('the second device', async () => (await count('attach')) > 0);
  await until('words', async () => (await count('words')) > 60);
  const measured = {};
  for (const act of [
    'kill-worker',
    'kill-api',
    'drop-network',
    'restart-redis',
    'restart-temporal',
  ]) {
    await page.evaluate(() => (document.getElementById('recovery').textContent = '–'));
    await click(act);
    await until(`recovery from ${act}`, async () => (await count('recovery')) > 0);
    measured[act] = await count('recovery');
    if (act === 'kill-worker') await page.screenshot({ path: join(MEDIA, 'chaos.png') });
    const words = await count('words');
    await until('more words', async () => (await count('words')) > words + 15);
  }
  const words = await count('words');
  await click('stop');
  await until('the stop', async () => (await count('stop')) > 0);
  const shown = [];
  for (const id of ['a', 'b']) {
    await inDevice(id).getByTestId('send').waitFor({ timeout: STEP_MS });
    const reply = inDevice(id).locator('[data-testid=message][data-role=assistant]').last();
    const numbers = readNumbers(await reply.textContent());
    const { lost, doubled } = judge(numbers);
    if (lost + doubled > 0 || numbers.length < words) {
      throw new UserError(
        `device ${id}: ${numbers.length} words, ${lost} lost, ${doubled} doubled`,
      );
    }
    shown.push(numbers.length);
  }
  if (shown[0] !== shown[1]) throw new UserError(`the devices show ${shown.join(' and ')} words`);
  await countFaults('stopped reply');
  await click('ask');
  await inDevice('b').getByTestId('approve').waitFor({ timeout: STEP_MS });
  await page.screenshot({ path: join(MEDIA, 'chaos-approval.png') });
  await click('answer');
  await until('the reply on both', async () => (await count('words')) === 40);
  await countFaults('approved reply');
  process.stdout.write(`recovery ms: ${JSON.stringify(measured)}, ${shown[0]} words\n`);
}

/** Keeps the reason why it gave up: the picture, the output of the processes, and the record. */
async function tellWhatWasThere(page, product) {
  mkdirSync(GIVEN_UP, { recursive: true });
  await page.screenshot({ path: join(GIVEN_UP, 'page.png') });
  const counted = await page.locator('dl').innerText();
  const session = new URL(await page.locator('#a').getAttribute('src'), product.url).searchParams;
  const record = await fetch(`${product.url}/api/chat/${session.get('session')}/snapshot`)
    .then((response) => response.text())
    .catch(String);
  const text = [counted, product.output(), record].join('\n\n');
  writeFileSync(join(GIVEN_UP, 'output.txt'), text);
  process.stderr.write(`The film gave up; what was there is in ${GIVEN_UP}.\n`);
}

/** Takes pictures while something is played; returns their number. */
async function record(page, folder, playing) {
  let isOver = false;
  let frames = 0;
  const filming = (async () => {
    while (!isOver) {
      const next = new Promise((resolve) => setTimeout(resolve, 1_000 / FRAMES_PER_SECOND));
      const picture = await page.screenshot({ type: 'jpeg', quality: 80 });
      writeFileSync(join(folder, `frame-${String(frames).padStart(5, '0')}.jpg`), picture);
      frames += 1;
      await next;
    }
  })();
  try {
    await playing();
  } finally {
    isOver = true;
    await filming;
  }
  return frames;
}

/** Twice as fast as it was, in the format that READMEs show. */
async function animate(folder, frames) {
  const args = [
    ...['-y', '-loglevel', 'error', '-framerate', String(FRAMES_PER_SECOND * 2)],
    ...['-i', join(folder, 'frame-%05d.jpg'), '-vf', 'scale=840:-1', '-loop', '0'],
    ...['-quality', '55', join(MEDIA, 'chaos.webp')],
  ];
  const { code, stderr } = await runCommand('ffmpeg', args, { cwd: folder });
  if (code !== 0) throw new UserError(`ffmpeg made no animation of ${frames} pictures:\n${stderr}`);
}
