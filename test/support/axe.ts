import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with what a page shows now: the rule, and where. Empty for an accessible one. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await inPage.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

/** Which elements are wider than the page; a person would have to scroll sideways. */
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

/** What is wrong on phones and on a desk, dark and light: widths and colours do not depend on each other. */
export async function findProblems(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [width, colorScheme] of [
    [320, 'dark'],
    [390, undefined],
    [1280, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    if (colorScheme !== undefined) await page.emulateMedia({ colorScheme });
    const barriers = colorScheme === undefined ? [] : await findBarriers(page);
    const problems = [...barriers, ...(await findOverflow(page))];
    found.push(...problems.map((problem) => `${String(width)} ${String(colorScheme)}: ${problem}`));
  }
  return found;
}
