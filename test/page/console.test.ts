import type { Browser } from 'playwright-core';
import type { OperatorRunDetail, OperatorRuns } from '../../protocol/operator.js';
import { findProblems } from '../support/axe.js';
import { openConsole, type ConsolePage } from '../support/console-driver.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { shareBrowser } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

/** The console in Chromium, on a server of its own whose one user may do everything: other files leave runs. */
const product = useProduct({});
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
});

const CHARGE = [{ say: 'I would charge it.', ...ask('charge', { amount: 5 }) }, { say: 'well' }];

async function readRun(runId: string): Promise<OperatorRunDetail> {
  const path = `/api/operator/runs/${encodeURIComponent(runId)}`;
  return (await (await fetch(product.url + path)).json()) as OperatorRunDetail;
}

/** Begins a run and leaves it: a connection that is closed stops nothing. */
async function beginLab(script: object[]): Promise<string> {
  const message = { id: 'u1', role: 'user', content: JSON.stringify({ script }) };
  const response = await fetch(`${product.url}/api/chat/${newSessionId()}?agent=lab`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  });
  await response.body?.cancel();
  return response.headers.get('x-run-id') ?? '';
}

/** Temporal's list follows its workflows late: until it has these as those that wait, and no others. */
const untilWaiting = (runs: readonly string[]): Promise<unknown> =>
  until('exactly these are listed', async () => {
    const path = '/api/operator/runs?status=waiting_approval&agent=lab&limit=100';
    const { runs: found } = (await (await fetch(product.url + path)).json()) as OperatorRuns;
    const ids = new Set(found.map(({ runId }) => runId));
    return ids.size === runs.length && runs.every((runId) => ids.has(runId));
  });

const untilStatus = (console: ConsolePage, text: string): Promise<void> =>
  console.at('run-status').getByText(text, { exact: true }).waitFor();

it('a question is changed and approved on the spot, and another console sees that it is gone', async () => {
  const runId = await runLab(product, CHARGE);
  const address = `/console/waiting/${sessionOf(runId)}`;
  const [one, two] = [
    await openConsole(browser, product.url, address),
    await openConsole(browser, product.url, address),
  ];
  await two.at('question').waitFor();
  await one.click('why');
  expect(await one.at('why-text').textContent()).toContain('I would charge it.');
  await one.at('input-amount').fill('4');
  await one.at('answer-reason').fill('a discount');
  expect(await one.at('approve').textContent()).toBe('Approve with changes');
  await one.click('approve');
  await Promise.all([one, two].map((each) => each.at('empty').waitFor({ timeout: 5_000 })));
  await until('the run is over', async () => (await readRun(runId)).status === 'completed');
  const [call] = (await readRun(runId)).steps[0]?.calls ?? [];
  expect(call?.decision).toMatchObject({ approved: true, edited: true, reason: 'a discount' });
  expect([...one.faults, ...two.faults]).toEqual([]);
  await Promise.all([one.close(), two.close()]);
});

it('a question for the client is answered with a value', async () => {
  const runId = await runLab(product, [ask('locate', { question: 'where?' }), { say: 'there' }]);
  const console = await openConsole(browser, product.url, `/console/waiting/${sessionOf(runId)}`);
  await console.at('result').fill('{"city":"Basel"}');
  await console.click('give-result');
  await until('the run is over', async () => (await readRun(runId)).status === 'completed');
  await console.open(`/console/runs/${encodeURIComponent(runId)}`);
  await console.at('open-step').first().click();
  await console.at('contents').getByText('Basel').waitFor();
  await console.close();
});

it('a run is followed; its steps show what was decided and written', async () => {
  const runId = await runLab(product, CHARGE);
  const console = await openConsole(browser, product.url, `/console/runs/${runId}`);
  await untilStatus(console, 'Waits for approval');
  await console.click('to-waiting');
  await console.click('deny');
  await console.page.goBack();
  await untilStatus(console, 'Completed');
  expect(await console.at('call').first().textContent()).toContain('denied by');
  await console.at('open-step').first().click();
  await console.at('contents').waitFor();
  expect(await console.at('contents').textContent()).toContain('I would charge it.');
  expect(console.faults).toEqual([]);
  await console.close();
});

it('an active run is stopped with a reason, forked and repeated', async () => {
  const runId = await beginLab([
    ask('echo', { value: 1 }),
    { say: 'slow'.repeat(600), deltas: 600, everyMs: 100 },
  ]);
  const console = await openConsole(browser, product.url, `/console/runs/${runId}`);
  await console.at('step').first().waitFor();
  await console.click('run-stop');
  await console.at('reason').fill('too slow');
  await console.click('confirm');
  await untilStatus(console, 'Stopped');
  expect(await console.page.locator('main').textContent()).toContain('too slow');

  await console.click('run-fork');
  await console.at('fork-point').selectOption('0');
  expect(await console.at('again').textContent()).toContain('echo');
  await console.at('fork-point').selectOption('1');
  expect(await console.at('again').textContent()).toBe('none');
  await console.click('confirm');
  await until('the copy is shown', () => !console.page.url().includes(sessionOf(runId)));
  await console.click('run-stop');
  await console.click('confirm');
  await untilStatus(console, 'Stopped');
  await console.page.goBack();
  await untilStatus(console, 'Stopped');

  await console.click('run-retry');
  expect(await console.at('again').textContent()).toContain('echo');
  await console.click('confirm');
  await until('another run is shown', async () => {
    const { pathname } = new URL(console.page.url());
    return !pathname.endsWith(encodeURIComponent(runId));
  });
  await console.click('run-stop');
  await console.click('confirm');
  await untilStatus(console, 'Stopped');
  expect(console.faults).toEqual([]);
  await console.close();
});

it('runs are filtered, paged and stopped together; the address keeps the filter', async () => {
  const runs = await Promise.all(Array.from({ length: 27 }, () => runLab(product, CHARGE)));
  const console = await openConsole(browser, product.url, '/console/runs');
  await untilWaiting(runs);
  await console.at('filter-status').selectOption('waiting_approval');
  await console.at('filter-agent').selectOption('lab');
  expect(new URL(console.page.url()).search).toBe('?status=waiting_approval&agent=lab');
  await console.click('next');
  await console.page.getByText('Page 2').waitFor();
  await until('the second page is shown', async () => (await console.at('run-row').count()) === 2);
  await console.click('previous');
  await until('the first page is shown', async () => (await console.at('run-row').count()) === 25);

  await console.at('filter-owner').fill('unknown');
  await console.click('filter');
  await console.at('empty').waitFor();
  await console.page.goBack();
  await until('all are shown again', async () => (await console.at('run-row').count()) === 25);

  await console.click('stop-all');
  expect(await console.at('plan').textContent()).toContain('This is about 27 runs.');
  await console.at('reason').fill('recalled');
  await console.click('confirm');
  await console.page.locator('[data-testid=many][data-status=over]').waitFor();
  expect(await console.at('many').textContent()).toBe('27 of 27 done, 0 skipped, 0 failed.');
  await console.click('close');
  await console.at('empty').waitFor();
  const statuses = await Promise.all(runs.map(async (runId) => (await readRun(runId)).status));
  expect(new Set(statuses)).toEqual(new Set(['interrupted']));
  expect(console.faults).toEqual([]);
  await console.close();
});

it('usage is a chart and the same as a table; an agent is paused and resumed', async () => {
  const console = await openConsole(browser, product.url, '/console/usage?by=agent');
  await console.page.getByTestId('chart-bar').getByText('lab', { exact: true }).waitFor();
  await console.at('measure').selectOption('tokens');
  expect(await console.at('chart').textContent()).toContain('Tokens by agent');
  expect(await console.at('usage-table').locator('tbody tr').count()).toBeGreaterThan(0);

  await console.open('/console/agents');
  const lab = console.page.locator('[data-testid=agent][data-agent=lab]');
  await lab.getByTestId('pause').click();
  await console.at('reason').fill('a recall');
  await console.click('confirm');
  await until('it is paused', async () => (await lab.textContent())?.includes('a recall') === true);
  await lab.getByTestId('unpause').click();
  await console.click('confirm');
  await lab.getByTestId('pause').waitFor();
  expect(console.faults).toEqual([]);
  await console.close();
});

it('every view is without barriers, and as wide as the screen, light and dark', async () => {
  const runId = await runLab(product, [ask('echo', { value: 'x' }), ...CHARGE]);
  const views = [
    'waiting',
    'runs',
    `runs/${runId}`,
    'runs/no:1-x',
    'usage',
    'agents',
    'audit',
    'nothing',
  ];
  const console = await openConsole(browser, product.url);
  for (const view of views) {
    await console.open(`/console/${view}`);
    await console.page.waitForLoadState('networkidle');
    expect([view, await findProblems(console.page)]).toEqual([view, []]);
  }
  expect(console.faults).toEqual([]);
  await console.close();
}, 120_000);

it('the keyboard is enough to approve', async () => {
  const runId = await runLab(product, CHARGE);
  const console = await openConsole(browser, product.url, `/console/waiting/${sessionOf(runId)}`);
  await console.at('approve').waitFor();
  const { page } = console;
  for (let at = 0; at < 40; at += 1) {
    await page.keyboard.press('Tab');
    const on = await page.evaluate(() => document.activeElement?.getAttribute('data-testid'));
    if (on === 'approve') break;
  }
  await page.keyboard.press('Enter');
  await console.at('empty').waitFor();
  await until('the run is over', async () => (await readRun(runId)).status === 'completed');
  await console.close();
});
