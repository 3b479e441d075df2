import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';
import { newSessionId } from './product.js';
import { requireProgram } from './require-program.js';
import { until } from './until.js';

let shared: Promise<Browser> | undefined;
let sharedWindow: Promise<BrowserContext> | undefined;
/** Pages of the shared window that no test uses: a new page costs twice as much as an idle one. */
const idle: Page[] = [];

const VIEWPORT = { width: 1280, height: 800 };

/** Shares one Chromium among all files of this process; each file's windows close with the file. */
export async function shareBrowser(): Promise<Browser> {
  // The browser may have crashed during an earlier file.
  if ((await shared)?.isConnected() === false) shared = undefined;
  shared ??= launch().then((browser) => {
    atEndOfRun(() => browser.close());
    return browser;
  });
  const browser = await shared;
  atEndOfFile(async () => {
    const kept = await sharedWindow;
    const opened = browser.contexts().filter((window) => window !== kept);
    await Promise.all(opened.map((window) => window.close()));
  });
  return browser;
}

/** Launches Chromium with an empty profile; it connects only to the page's own server. */
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
      // Pages of one process compile the page's code once.
      '--renderer-process-limit=1',
    ],
  });
}

/** A page as a person sees it. */
export interface Tab {
  readonly page: Page;
  at: (testId: string) => Locator;
  click: (testId: string) => Promise<void>;
  /** Ends what the page shows. Throws if its code had errors. */
  leave: () => Promise<void>;
}

/** Opens a window that asks for reduced motion: animations are redrawn even when nobody looks. */
export async function openWindow(): Promise<BrowserContext> {
  return (await shareBrowser()).newContext({ viewport: VIEWPORT, reducedMotion: 'reduce' });
}

/** Opens the pages of all files in one window, since a window costs more than three pages. */
async function shareWindow(): Promise<BrowserContext> {
  const browser = await shareBrowser();
  if ((await sharedWindow)?.browser() !== browser) sharedWindow = undefined;
  sharedWindow ??= openWindow().then(async (window) => {
    // A window closes with its last page.
    await window.newPage();
    return window;
  });
  return sharedWindow;
}

/** Takes an idle page as if it were new. */
async function takePage(): Promise<Page> {
  const window = await shareWindow();
  const page = idle.pop();
  if (page === undefined || page.isClosed()) return window.newPage();
  await page.setViewportSize(VIEWPORT);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  return page;
}

/** Ends what a page shows, at an address of the same site, which needs no other process. */
async function putBack(page: Page): Promise<void> {
  page.removeAllListeners();
  try {
    await page.goto(new URL('/healthz', page.url()).href);
    idle.push(page);
  } catch {
    await page.close();
  }
}

/**
 * Shows an address in a page. Pages of one window share six connections to a server, and a busy
 * chat needs two, so pages that are busy at the same time need their own windows.
 */
export async function openTab(url: string, window?: Promise<BrowserContext>): Promise<Tab> {
  const page = await (window === undefined ? takePage() : (await window).newPage());
  let isLeft = false as boolean;
  atEndOfFile(async () => {
    if (!isLeft) await page.close();
  });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(url);
  const at = (testId: string): Locator => page.getByTestId(testId);
  return {
    page,
    at,
    click: (testId) => at(testId).click(),
    leave: async () => {
      isLeft = true;
      // A request that a test answers may still be open.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await (window === undefined ? putBack(page) : page.close());
      if (faults.length > 0) throw new Error(`The page's code failed: ${faults.join('; ')}`);
    },
  };
}

/** The console as an operator sees it. */
export interface ConsolePage extends Tab {
  /** Shows another address of the console, as a link does. */
  open: (address: string) => Promise<void>;
}

export async function openConsole(url: string, address = '/console'): Promise<ConsolePage> {
  const tab = await openTab(url + address);
  const open = (to: string): Promise<void> =>
    tab.page.evaluate((next) => {
      history.pushState(null, '', next);
      dispatchEvent(new PopStateEvent('popstate'));
    }, to);
  await tab.page.locator('h1').waitFor();
  return { ...tab, open };
}

/** The chat page as a person sees it. */
export interface ChatPage extends Tab {
  say: (text: string) => Promise<void>;
  /** Texts of the agent's messages, in order. */
  replies: () => Promise<string[]>;
  /** Status of the page in one word. */
  status: () => Promise<string | null>;
  tools: () => Promise<{ tool: string | undefined; state: string | undefined }[]>;
  untilStatus: (status: string, withinMs?: number) => Promise<void>;
  /** Resolves when the newest reply contains this text. */
  untilReplyHas: (text: string, withinMs?: number) => Promise<void>;
}

export async function openPage(
  url: string,
  sessionId = newSessionId(),
  agent = 'lab',
  window?: Promise<BrowserContext>,
): Promise<ChatPage> {
  const tab = await openTab(`${url}/?session=${sessionId}&agent=${agent}`, window);
  const { at, page } = tab;
  // The page may redraw between two queries, so one query reads all replies.
  const replies = (): Promise<string[]> =>
    page.locator('[data-testid=message][data-role=assistant]').evaluateAll((messages) =>
      messages.map((message) => {
        const texts = [...message.querySelectorAll('[data-testid=text]')];
        const written = texts.map(({ textContent }) => textContent).join('');
        return written.replace(/\s+/g, ' ').trim();
      }),
    );
  const status = (): Promise<string | null> => at('status').getAttribute('data-status');
  return {
    ...tab,
    replies,
    status,
    say: async (text) => {
      await at('composer').fill(text);
      await at('send').click();
    },
    tools: () =>
      at('tool-card').evaluateAll((cards) =>
        cards.map((card) => {
          const { tool, state } = (card as HTMLElement).dataset;
          return { tool, state };
        }),
      ),
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
