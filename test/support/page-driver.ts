import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { requireProgram } from './require-program.js';
import { until } from './until.js';

let shared: Promise<Browser> | undefined;

/** A Chromium for all files of this process; what a file opens in it is closed with the file. */
export async function shareBrowser(): Promise<Browser> {
  // One that has crashed behind an earlier file is of no use to this one.
  if ((await shared)?.isConnected() === false) shared = undefined;
  shared ??= launch().then((browser) => {
    atEndOfRun(() => browser.close());
    return browser;
  });
  const browser = await shared;
  atEndOfFile(() => Promise.all(browser.contexts().map((context) => context.close())));
  return browser;
}

/** With an empty profile; it connects only to the page's own server. */
function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: requireProgram('CHROMIUM_PATH'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** The page as a person sees it. */
export interface ChatPage {
  readonly page: Page;
  /** Everything that went wrong in the page's code. */
  readonly faults: string[];
  say: (text: string) => Promise<void>;
  click: (testId: string) => Promise<void>;
  at: (testId: string) => Locator;
  /** Texts of the agent's messages, in order. */
  replies: () => Promise<string[]>;
  /** Status of the page, in one word. */
  status: () => Promise<string | null>;
  tools: () => Promise<{ tool: string | null; state: string | null }[]>;
  untilStatus: (status: string, withinMs?: number) => Promise<void>;
  /** Resolves when the newest reply has this text in it. */
  untilReplyHas: (text: string, withinMs?: number) => Promise<void>;
}

export async function openPage(
  browser: Browser,
  url: string,
  sessionId: string,
  agent = 'lab',
): Promise<ChatPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`${url}/?session=${sessionId}&agent=${agent}`);

  const at = (testId: string): Locator => page.getByTestId(testId);
  const replies = async (): Promise<string[]> => {
    const bubbles = await page.locator('[data-testid=message][data-role=assistant]').all();
    return Promise.all(
      bubbles.map(async (bubble) =>
        (await bubble.getByTestId('text').allTextContents()).join('').replace(/\s+/g, ' ').trim(),
      ),
    );
  };
  const status = (): Promise<string | null> => at('status').getAttribute('data-status');
  return {
    page,
    faults,
    at,
    replies,
    status,
    say: async (text) => {
      await at('composer').fill(text);
      await at('send').click();
    },
    click: (testId) => at(testId).click(),
    tools: async () => {
      const cards = await at('tool-card').all();
      return Promise.all(
        cards.map(async (card) => ({
          tool: await card.getAttribute('data-tool'),
          state: await card.getAttribute('data-state'),
        })),
      );
    },
    untilStatus: async (wanted, withinMs) => {
      await until(`the page is ${wanted}`, async () => (await status()) === wanted, withinMs);
    },
    untilReplyHas: async (text, withinMs) => {
      await until(
        `the page shows "${text}"`,
        async () => (await replies()).at(-1)?.includes(text) === true,
        withinMs,
      );
    },
  };
}
