import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { launchBrowser } from '../support/page-driver.js';
import { sharedTemporal } from '../support/product.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { installInto, type Project } from './support/project.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/next', import.meta.url));

const SCRIPT = JSON.stringify({
  script: [
    { say: 'Let me see.', calls: [{ tool: 'refund', id: 'c1', args: { order: 'A1', amount: 5 } }] },
    { say: 'It is done.' },
  ],
});

let redis: RedisServer;
let project: Project;
let browser: Browser;
let url: string;

beforeAll(async () => {
  redis = await startRedis();
  browser = await launchBrowser();
  project = await installInto([], {
    from: EXAMPLE,
    env: {
      TEMPORAL_ADDRESS: sharedTemporal(),
      REDIS_URL: redis.url,
      TASK_QUEUE: `next-${randomBytes(6).toString('hex')}`,
    },
  });
  await project.run('npx', ['next', 'build']);
  await project.start(process.execPath, ['worker.mjs'], "state: 'RUNNING'");
  const port = String(await anyFreePort());
  await project.start('npx', ['next', 'start', '-p', port], 'Ready in');
  url = `http://127.0.0.1:${port}`;
}, 600_000);

afterAll(async () => {
  await browser.close();
  await project.close();
  await redis.close();
});

it('the example for Next.js streams, waits for an approval, and survives reloads', async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(url);
  await page.waitForLoadState('networkidle');
  await page.getByLabel('Message').fill(SCRIPT);
  await page.getByRole('button', { name: 'Send' }).click();
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await page.reload({ waitUntil: 'networkidle' });
  await approve.waitFor();
  await approve.click();
  const replies = page.locator('[data-role=assistant]');
  await replies.getByText('It is done.').waitFor();
  const shown = await replies.allInnerTexts();
  expect(shown).toHaveLength(1);
  expect(shown[0]).toContain('output-available');
  await page.reload({ waitUntil: 'networkidle' });
  await replies.getByText('It is done.').waitFor();
  expect(await replies.allInnerTexts()).toEqual(shown);
  expect(faults).toEqual([]);
}, 120_000);
