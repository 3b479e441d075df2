import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { openChaosBench } from '../../scripts/start/chaos/bench.mjs';
import { launchBrowser } from '../support/page-driver.js';
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

/** The buttons of the chaos bench that kill nothing: what people do, or leave undone, on two devices. */
const product = useProduct();
const ends: (() => void)[] = [];
let browser: Browser;
let address: string;
let page: Page;
let devices: FrameLocator[];

beforeAll(async () => {
  const fleet = { add: ({ stop }: { stop: () => void }) => ends.push(stop) };
  address = await openChaosBench({ url: product.url, kill: () => false, fleet });
  browser = await launchBrowser();
  page = await browser.newPage();
  await page.goto(address);
  devices = ['a', 'b'].map((id) => page.frameLocator(`#${id}`));
  await devices[0]?.getByTestId('composer').waitFor();
}, 60_000);
afterAll(async () => {
  await browser.close();
  for (const end of ends) end();
});

const press = (act: string): Promise<void> => page.locator(`[data-act=${act}]`).click();
const onBoth = (see: (device: FrameLocator) => Promise<unknown>): Promise<unknown> =>
  Promise.all(devices.map(see));
const untilCounted = (id: string, isRight: (count: number) => boolean): Promise<unknown> =>
  until(`${id} is counted`, async () =>
    isRight(Number(await page.locator(`#${id}`).textContent())),
  );

it.each([320, 390])(
  'on a phone of %s px the bench is as wide as the screen, and each device is high enough to be used',
  async (width) => {
    const phone = await browser.newPage({ viewport: { width, height: 700 } });
    await phone.goto(address);
    const field = phone.frameLocator('#a').getByTestId('composer');
    // As the page does where no finger is used.
    await field.evaluate((box: HTMLElement) => {
      box.focus();
    });
    expect(await phone.evaluate(() => window.scrollY)).toBe(0);
    const sizes = await phone.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const devices = [...document.querySelectorAll('iframe')].map((each) => each.clientHeight);
      window.scrollTo(0, scrollHeight);
      const { top } = (document.getElementById('now') ?? document.body).getBoundingClientRect();
      return { scrollWidth, devices, top };
    });
    expect(sizes.scrollWidth).toBe(width);
    expect(Math.min(...sizes.devices)).toBeGreaterThan(350);
    expect(sizes.top).toBe(0);
    await phone.close();
  },
);

it('the bench answers an approval from the other device: both see one charge and the whole reply', async () => {
  await press('ask');
  await devices[0]?.getByTestId('approve').waitFor();
  await press('attach');
  await devices[1]?.getByTestId('approve').waitFor();
  await press('answer');
  await untilCounted('words', (count) => count === 40);
  await untilCounted('recovery', (ms) => ms > 0);
  const replyOf = (device: FrameLocator) => device.locator('[data-role=assistant]').last();
  await onBoth((device) => replyOf(device).getByText('w40').waitFor());
  await onBoth((device) => device.getByTestId('approve').waitFor({ state: 'detached' }));
  const counts = Object.values(await product.redis.hgetall('lab:charges'));
  expect(counts).toEqual(['1']);
  for (const id of ['lost', 'doubled'])
    expect(await page.locator(`#${id}`).textContent()).toBe('0');
  const asked = devices[0]?.locator('[data-testid=message][data-role=user]').first();
  expect(await asked?.getByText('{"script"').isVisible()).toBe(false);
  expect(await asked?.getAttribute('data-means')).toContain('Charge $5');
});

it('the bench lets an approval expire: it is denied, nothing is charged, and the agent continues on both devices', async () => {
  await press('expire');
  await onBoth((device) => device.getByTestId('approve').waitFor());
  await onBoth((device) =>
    device.locator('[data-testid=tool-card][data-tool=hurriedCharge][data-state=denied]').waitFor(),
  );
  await untilCounted('recovery', (ms) => ms > 0);
  await untilCounted('words', (count) => count === 40);
  expect(await product.redis.hlen('lab:charges')).toBe(1);
  for (const id of ['lost', 'doubled'])
    expect(await page.locator(`#${id}`).textContent()).toBe('0');
});

it('the bench says that nothing was under way, and counts no word of an earlier reply for the next', async () => {
  await press('drop-network');
  expect(await page.locator('#outcome').textContent()).toBe('No reply was under way');
  const first = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const words = document.getElementById('words');
        if (words === null) throw new Error('unreachable');
        new MutationObserver(() => {
          resolve(words.textContent);
        }).observe(words, { childList: true });
        document.querySelector<HTMLElement>('[data-act=ask]')?.click();
      }),
  );
  expect(first).toBe('0');
});
