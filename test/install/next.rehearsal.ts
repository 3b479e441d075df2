import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { shareBrowser } from '../support/page-driver.js';
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
  browser = await shareBrowser();
  project = await installInto(['@ai-sdk/openai@4'], {
    from: EXAMPLE,
    env: {
      TEMPORAL_ADDRESS: sharedTemporal(),
      REDIS_URL: redis.url,
      TASK_QUEUE: `next-${randomBytes(6).toString('hex')}`,
    },
  });
  await project.run('npx', ['next', 'build']);
  await project.start(process.execPath, ['worker.mjs'], "state: 'RUNNING'");
  url = await startApp();
}, 600_000);

/** Starts the built app with these environment variables; resolves to its URL. */
async function startApp(...variables: string[]): Promise<string> {
  const port = String(await anyFreePort());
  await project.start('env', [...variables, 'npx', 'next', 'start', '-p', port], 'Ready in');
  return `http://127.0.0.1:${port}`;
}

afterAll(async () => {
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

it('the bundled app loads the package of the provider that MODEL names, and fails where there is none', async () => {
  const look = async (at: string): Promise<number> => {
    const response = await fetch(`${at}/api/chat/unknown/snapshot`);
    await response.text();
    return response.status;
  };
  const without = await look(url);
  expect(without).toBeLessThan(500);
  const installed = await startApp('MODEL=openai:gpt-5', 'OPENAI_API_KEY=none');
  expect(await look(installed)).toBe(without);
  const missing = await startApp('MODEL=anthropic:claude', 'ANTHROPIC_API_KEY=none');
  expect(await look(missing)).toBe(500);
}, 120_000);
