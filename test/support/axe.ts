import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns axe's findings on the page, as rule and place; empty for an accessible page. */
export async function findBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await inPage.run({
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
      selectors: false,
    });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

/** Returns the elements that are wider than the page, which force sideways scrolling. */
export async function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const isWide = document.documentElement.scrollWidth > width;
    if (!isWide) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .map((element) => element.outerHTML.slice(0, 120));
  });
}

const SCREENS = [
  { width: 320, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** Checks a page on a phone and a desk, dark and light; widths and colours are independent. */
export async function findProblems(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const { width, colorScheme } of SCREENS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const problems = [...(await findBarriers(page)), ...(await findOverflow(page))];
    found.push(...problems.map((problem) => `${String(width)} ${colorScheme}: ${problem}`));
  }
  return found;
}
