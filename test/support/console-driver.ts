import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** The console as an operator sees it. */
export interface ConsolePage {
  readonly page: Page;
  /** Everything that went wrong in the page's code. */
  readonly faults: string[];
  at: (testId: string) => Locator;
  click: (testId: string) => Promise<void>;
  /** Shows another address of the console. */
  open: (address: string) => Promise<void>;
  close: () => Promise<void>;
}

export async function openConsole(
  browser: Browser,
  url: string,
  address = '/console',
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  const at = (testId: string): Locator => page.getByTestId(testId);
  const open = async (to: string): Promise<void> => {
    await page.goto(url + to);
    await page.locator('h1').waitFor();
  };
  await open(address);
  return {
    page,
    faults,
    at,
    open,
    click: (testId) => at(testId).click(),
    close: async () => {
      // A request that a test answers may be under way.
      await context.unrouteAll({ behavior: 'ignoreErrors' });
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}
