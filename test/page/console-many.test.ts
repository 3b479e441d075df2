import type { OperatorRunDetail } from '../../protocol/operator.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { openConsole, type ConsolePage } from '../support/page-driver.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { postJson } from '../support/post-json.js';
import { useLocalProduct } from '../support/local-product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The console handles thousands of questions, acts and runs. */
const product = useOwnUser(useLocalProduct({ hasAccounts: true }), 'operator');

const CHARGE = [ask('charge', { amount: 5 }), { say: 'well' }];
const begin = (): Promise<string> => runLab(product, CHARGE);

const answer = (runId: string): Promise<Response> =>
  postJson(`${product.url}/api/operator/waiting/${sessionOf(runId)}/c1`, { approved: true });

async function decisionOf(runId: string): Promise<unknown> {
  const path = `runs/${encodeURIComponent(runId)}`;
  const { steps } = await readOperator<OperatorRunDetail>(product, path);
  return steps[0]?.calls[0]?.decision;
}

async function expectNoBarriers({ page }: ConsolePage): Promise<void> {
  await page.setViewportSize({ width: 320, height: 800 });
  expect([...(await findBarriers(page)), ...(await findOverflow(page))]).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
}

it('questions are decided once they can be shown, several together, with a reason, and one that was answered meanwhile is skipped', async () => {
  const runs = [await begin(), await begin(), await begin(), await begin()];
  const [kept = '', answered = '', ...denied] = runs;
  const console = await openConsole(product.url, '/console/agents');
  const { page } = console;
  // Another release of the server has no code of this one.
  await page.route('**/waiting-list-*.js', (route) => route.abort());
  await console.open('/console/waiting');
  // The alert replaces the list once the pending calls are known.
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  expect(await page.locator('ul > [role=alert]').count()).toBe(0);
  for (const control of ['choose-page', 'approve-chosen']) {
    expect(await console.at(control).count()).toBe(0);
  }
  await page.unroute('**/waiting-list-*.js');
  await page.getByRole('button', { name: 'Load the console again' }).click();

  await until('all are shown', async () => (await console.at('choose').count()) === 4);
  await console.click('choose-page');
  await page
    .locator(`[data-session="${sessionOf(kept)}"]`)
    .getByTestId('choose')
    .uncheck();
  expect(await console.at('chosen').textContent()).toBe('3 chosen');
  await expectNoBarriers(console);

  await console.click('deny-chosen');
  await console.at('plan').getByText('This is about 3 calls.').waitFor();
  await expectNoBarriers(console);
  await console.click('confirm');
  // The page sent nothing, because the reason is missing.
  expect(await console.at('many').count()).toBe(0);
  expect((await answer(answered)).status).toBe(202);
  await console.at('reason').fill('not this month');
  await console.click('confirm');
  await page.locator('[data-testid=many][data-status=over]').waitFor();
  expect(await console.at('many').textContent()).toBe('2 of 3 done, 1 skipped, 0 failed.');
  await console.click('close');
  await until('one is left', async () => (await console.at('question').count()) === 1);
  expect(await console.at('choose').count()).toBe(0);
  for (const runId of denied) {
    expect(await decisionOf(runId)).toMatchObject({ approved: false, reason: 'not this month' });
  }
  expect(await decisionOf(answered)).toMatchObject({ approved: true });
  expect(await decisionOf(kept)).toBeUndefined();
  await console.leave();
  await answer(kept);
});

it('the trail shows who stopped the run, and is checked', async () => {
  const runId = await begin();
  const console = await openConsole(product.url, `/console/runs/${runId}`);
  await console.click('run-stop');
  await console.click('confirm');
  await console.open('/console/audit');
  await console.at('audit-action').selectOption('stop');
  await console.at('audit-entry').first().waitFor();
  expect(await console.at('audit-entry').first().textContent()).toContain('(console)');
  await console.click('check-audit');
  expect(await console.at('audit-verdict').textContent()).toMatch(/^All \d+ entries are/);
  await expectNoBarriers(console);
  await console.leave();
});
