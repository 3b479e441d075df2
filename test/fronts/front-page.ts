import type { Browser } from 'playwright-core';
import { toScript } from '../support/chat-client.js';
import { until } from '../support/until.js';

/** An example's page, and a person who uses it. */
export interface FrontPage {
  /** Errors that the page's code threw or that the page shows. */
  faults: () => Promise<string[]>;
  say: (...script: object[]) => Promise<void>;
  click: (name: 'Approve' | 'Deny') => Promise<void>;
  count: (name: 'Approve' | 'Deny') => Promise<number>;
  /** Texts of one side's messages, in order. */
  texts: (role: 'user' | 'assistant') => Promise<string[]>;
  untilReplyHas: (text: string) => Promise<void>;
  untilReady: () => Promise<void>;
  reload: () => Promise<void>;
  /** Number of requests with a body since the page opened. */
  posts: () => number;
  close: () => Promise<void>;
}

export async function openFront(
  browser: Browser,
  url: string,
  session: string,
): Promise<FrontPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const thrown: string[] = [];
  let posts = 0;
  page.on('pageerror', (error) => thrown.push(error.message));
  page.on('request', (request) => (posts += request.method() === 'POST' ? 1 : 0));
  await page.goto(`${url}/?session=${session}`);

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  async function texts(role: string): Promise<string[]> {
    const messages = await page.locator(`[data-role=${role}]`).all();
    return Promise.all(
      messages.map(async (message) => (await message.locator('p').allTextContents()).join('')),
    );
  }
  const status = () => page.locator('[data-status]').getAttribute('data-status');
  return {
    texts,
    faults: async () => [...thrown, ...(await page.getByRole('alert').allTextContents())],
    say: async (...script) => {
      await page.getByLabel('Message').fill(toScript(...script).text);
      await button('Send').click();
    },
    click: (name) => button(name).click(),
    count: (name) => button(name).count(),
    untilReplyHas: async (text) => {
      await until(
        `the page shows "${text}"`,
        async () => (await texts('assistant')).at(-1)?.includes(text) === true,
        30_000,
      );
    },
    untilReady: async () => {
      await until('the page is ready', async () => (await status()) === 'ready', 30_000);
    },
    reload: async () => {
      await page.reload();
    },
    posts: () => posts,
    close: () => context.close(),
  };
}
