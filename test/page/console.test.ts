import type { OperatorRunDetail, OperatorRuns } from '../../protocol/operator.js';
import { findProblems } from '../support/axe.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { openConsole, type ConsolePage } from '../support/page-driver.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, useProduct } from '../support/product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The console in Chromium, in its own tenant, whose one user has all rights. */
const product = useOwnUser(useProduct('accounts'), 'operator');

const CHARGE = [{ say: 'I would charge it.', ...ask('charge', { amount: 5 }) }, { say: 'well' }];

const readRun = (runId: string): Promise<OperatorRunDetail> =>
  readOperator(product, `runs/${encodeURIComponent(runId)}`);

/** Begins a run and disconnects, which stops nothing. */
async function beginLab(script: object[]): Promise<string> {
  const message = { id: 'u1', role: 'user', content: JSON.stringify({ script }) };
  const response = await postJson(`${product.url}/api/chat/${newSessionId()}?agent=lab`, {
    message,
  });
  await response.body?.cancel();
  return response.headers.get('x-run-id') ?? '';
}

const untilStatus = (console: ConsolePage, text: string): Promise<void> =>
  console.at('run-status').getByText(text, { exact: true }).waitFor();

/** Presses Tab until this test id has the focus, and returns the focused one. */
async function tabTo({ page }: ConsolePage, testId: string): Promise<unknown> {
  const focused = (): Promise<unknown> =>
    page.evaluate(() => document.activeElement?.getAttribute('data-testid'));
  for (let at = 0; at < 40 && (await focused()) !== testId; at += 1)
    await page.keyboard.press('Tab');
  return focused();
}

it('a question is changed and approved on the spot, and another console sees that it is gone', async () => {
  const runId = await runLab(product, CHARGE);
  const address = `/console/waiting/${sessionOf(runId)}`;
  const one = await openConsole(product.url, address);
  const two = await openConsole(product.url, address);
  await two.at('question').waitFor();
  await one.click('why');
  expect(await one.at('why-text').textContent()).toContain('I would charge it.');
  await one.at('input-amount').fill('4');
  await one.at('answer-reason').fill('a discount');
  expect(await one.at('approve').textContent()).toBe('Approve with changes');
  await one.click('approve');
  for (const each of [one, two]) await each.at('empty').waitFor();
  await until('the run is over', async () => (await readRun(runId)).status === 'completed');
  const [call] = (await readRun(runId)).steps[0]?.calls ?? [];
  expect(call?.decision).toMatchObject({ approved: true, edited: true, reason: 'a discount' });
  for (const each of [one, two]) await each.leave();
});

it('a run is followed, its questions are answered by keyboard, and its steps show what was decided and written', async () => {
  const where = ask('locate', { question: 'where?' });
  const runId = await runLab(product, [CHARGE[0] ?? {}, where, { say: 'there' }]);
  const console = await openConsole(product.url, `/console/runs/${runId}`);
  await untilStatus(console, 'Waits for approval');
  await console.click('to-waiting');
  await console.at('deny').waitFor();
  expect(await tabTo(console, 'deny')).toBe('deny');
  await console.page.keyboard.press('Enter');
  await console.at('client-result').waitFor();
  expect(await tabTo(console, 'client-result')).toBe('client-result');
  await console.page.keyboard.type('{"city":"Basel"}');
  expect(await tabTo(console, 'give-result')).toBe('give-result');
  await console.page.keyboard.press('Enter');
  await console.at('empty').waitFor();
  await console.page.goBack();
  await untilStatus(console, 'Completed');
  expect(await console.at('call').first().textContent()).toContain('denied by');
  for (const [step, text] of ['I would charge it.', 'Basel'].entries()) {
    await console.at('open-step').nth(step).click();
    await console.at('contents').getByText(text).first().waitFor();
  }
  await console.leave();
});

it('an active run is stopped with a reason, forked and repeated', async () => {
  const runId = await beginLab([
    ask('echo', { value: 1 }),
    { say: 'slow'.repeat(600), deltas: 600, everyMs: 100 },
  ]);
  const console = await openConsole(product.url, `/console/runs/${runId}`);
  await console.at('step').first().waitFor();
  await console.click('run-stop');
  await console.page.getByRole('button', { name: 'Cancel' }).click();
  await console.page.locator('[data-testid=run-stop]:focus').waitFor();
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
  await console.leave();
});

it('runs are filtered and stopped together; the address keeps the filter', async () => {
  const runs = await Promise.all([1, 2, 3].map(() => runLab(product, CHARGE)));
  // Temporal lists workflows late.
  await until('exactly these are listed', async () => {
    const path = 'runs?status=waiting_approval&agent=lab&limit=100';
    const found = (await readOperator<OperatorRuns>(product, path)).runs.map(({ runId }) => runId);
    return found.length === runs.length && runs.every((runId) => found.includes(runId));
  });
  const console = await openConsole(product.url, '/console/runs');
  const untilShown = (count: number): Promise<unknown> =>
    until(
      `${String(count)} are shown`,
      async () => (await console.at('run-row').count()) === count,
    );
  await console.at('filter-status').selectOption('waiting_approval');
  await console.at('filter-agent').selectOption('lab');
  expect(new URL(console.page.url()).search).toBe('?status=waiting_approval&agent=lab');
  await untilShown(3);
  await console.at('filter-owner').fill('unknown');
  await console.page.keyboard.press('Enter');
  await console.at('empty').waitFor();
  await console.page.locator('[data-testid=filter-owner]:focus').waitFor();
  await console.page.goBack();
  await untilShown(3);
  expect(await console.at('filter-owner').inputValue()).toBe('');

  await console.click('stop-all');
  expect(await console.at('plan').textContent()).toContain('This is about 3 runs.');
  await console.at('reason').fill('recalled');
  await console.click('confirm');
  await console.page.locator('[data-testid=many][data-status=over]').waitFor();
  expect(await console.at('many').textContent()).toBe('3 of 3 done, 0 skipped, 0 failed.');
  await console.click('close');
  await console.at('empty').waitFor();
  const statuses = await Promise.all(runs.map(async (runId) => (await readRun(runId)).status));
  expect(new Set(statuses)).toEqual(new Set(['interrupted']));
  await console.leave();
});

it('usage is a chart and the same as a table; an agent is paused and resumed', async () => {
  await runLab(product, [{ say: 'hi' }]);
  const console = await openConsole(product.url, '/console/usage?by=agent');
  await console.page.getByTestId('chart-bar').getByText('lab', { exact: true }).waitFor();
  // The first group has the most runs, so its bar fills the track.
  const [bar, track] = await Promise.all(
    ['.bar', '.track'].map((part) => console.page.locator(part).first().boundingBox()),
  );
  expect(bar?.height).toBeGreaterThan(5);
  expect(bar?.width).toBe(track?.width);
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
  await console.leave();
});

it('every view is without barriers, and as wide as the screen, light and dark', async () => {
  const runId = await runLab(product, [ask('echo', { value: 'x'.repeat(300) }), ...CHARGE]);
  const views = [
    ['waiting', 'question'],
    ['runs', 'run-row'],
    [`runs/${runId}`, 'step'],
    ['runs/no:1-x', 'problem'],
    ['usage', 'chart'],
    ['agents', 'agent'],
    ['audit', 'audit-entry'],
  ] as const;
  const console = await openConsole(product.url, '/console/nothing');
  expect(await findProblems(console.page)).toEqual([]);
  for (const [view, what] of views) {
    await console.open(`/console/${view}`);
    await console.at(what).first().waitFor();
    if (what === 'step') {
      await console.at('open-step').first().click();
      await console.at('tool-call').waitFor();
    }
    expect([view, await findProblems(console.page)]).toEqual([view, []]);
  }
  await console.leave();
  await postJson(`${product.url}/api/chat/${sessionOf(runId)}/stop`, {});
});
