import type { OperatorRunDetail, OperatorRuns } from '../../protocol/operator.js';
import type { RunStatus } from '../../protocol/run.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { openConsole, type ConsolePage } from '../support/page-driver.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { postJson } from '../support/post-json.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The console handles thousands of questions, acts and runs. */
const product = useOwnUser('operator');

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

it('several questions are denied together, with a reason, and one that was answered meanwhile is skipped', async () => {
  const runs = [await begin(), await begin(), await begin(), await begin()];
  const [kept = '', answered = '', ...denied] = runs;
  const console = await openConsole(product.url, '/console/waiting');
  await until('all are shown', async () => (await console.at('choose').count()) === 4);
  await console.click('choose-page');
  await console.page
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
  await console.page.locator('[data-testid=many][data-status=over]').waitFor();
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
}, 60_000);

it('calls that could not be decided are named, and those behind a server that is away are left', async () => {
  const runs = [await begin(), await begin(), await begin(), await begin(), await begin()];
  const console = await openConsole(product.url, '/console/waiting');
  const { page } = console;
  await until('all are shown', async () => (await console.at('choose').count()) === runs.length);
  let asked = 0;
  let away = '';
  await page.route('**/api/operator/waiting/*/c1', async (route) => {
    asked += 1;
    if (asked === 1) {
      const json = { error: 'No.', code: 'not_allowed' };
      return route.fulfill({ status: 403, json });
    }
    if (asked === 2) away = route.request().url();
    return route.request().url() === away ? route.abort() : route.continue();
  });
  await console.click('choose-page');
  await console.click('approve-chosen');
  await console.at('plan').getByText('This is about 5 calls.').waitFor();
  await console.click('confirm');
  await console.page.locator('[data-testid=many][data-status=over]').waitFor();
  const problems = (await console.at('many-problems').textContent()) ?? '';
  expect(problems).toMatch(/not yours to decide.*the server did not answer/);
  const decisions = await Promise.all(runs.map(decisionOf));
  const done = decisions.filter((decision) => decision !== undefined).length;
  expect(await console.at('many').textContent()).toContain(
    `${String(done)} of 5 done, 0 skipped, 2 failed.`,
  );
  await console.leave();
  for (const runId of runs) await answer(runId);
}, 60_000);

it('nothing is decided together whose questions cannot be shown, and one alert says so', async () => {
  const runs = [await begin(), await begin()];
  const console = await openConsole(product.url, '/console/agents');
  const { page } = console;
  await page.route('**/waiting-list-*.js', (route) => route.abort());
  await console.open('/console/waiting');
  // The alert replaces the list once the pending calls are known.
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  expect(await page.locator('ul > [role=alert]').count()).toBe(0);
  expect(await console.at('choose-page').count()).toBe(0);
  expect(await console.at('approve-chosen').count()).toBe(0);
  await console.leave();
  for (const runId of runs) await answer(runId);
}, 60_000);

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
}, 60_000);

it('of many runs only the page that is shown is read, and an act on all is about those beyond it', async () => {
  const console = await openConsole(product.url, '/console/usage');
  const asked: string[] = [];
  await console.page.route('**/api/operator/runs?*', async (route) => {
    const { searchParams } = new URL(route.request().url());
    const [from, limit] = [
      Number(searchParams.get('cursor') ?? 0),
      Number(searchParams.get('limit')),
    ];
    asked.push(`${String(from)}+${String(limit)}`);
    const runs = Array.from({ length: Math.min(limit, 250 - from) }, (_, n) => ({
      runId: `many-${String(from + n)}:1-x`,
      sessionId: `many-${String(from + n)}`,
      agent: 'lab',
      owner: 'ann',
      status: 'running' as const,
      startedAt: 1,
    }));
    const rest = from + limit < 250 ? { cursor: String(from + limit) } : {};
    await route.fulfill({ json: { runs, ...rest } satisfies OperatorRuns });
  });
  await console.page.getByRole('link', { name: 'Runs' }).click();
  const untilFirst = (run: number): Promise<void> =>
    console.page.locator(`[data-run="many-${String(run)}:1-x"]`).waitFor();
  await untilFirst(0);
  await console.at('filter-status').selectOption('running');
  await untilFirst(0);
  for (const first of [25, 50]) {
    await console.click('next');
    await untilFirst(first);
    expect(await console.at('run-row').count()).toBe(25);
  }
  await console.page.getByText('Page 3').waitFor();
  await console.click('previous');
  await untilFirst(25);
  expect(new Set(asked)).toEqual(new Set(['0+25', '25+25', '50+25']));
  await console.click('stop-all');
  await console.at('plan').getByText('This is about 250 runs.').waitFor();
  await console.leave();
});

it('of the runs that are chosen an act is about those that it suits, and is sent again as the same request', async () => {
  const console = await openConsole(product.url, '/console/usage');
  const run = (status: RunStatus) => ({
    ...{ runId: `${status}:1-x`, sessionId: status, agent: 'lab', owner: 'ann', startedAt: 1 },
    status,
  });
  await console.page.route('**/api/operator/runs?*', (route) =>
    route.fulfill({
      json: { runs: [run('completed'), run('failed'), run('running')] } satisfies OperatorRuns,
    }),
  );
  const keys: (string | undefined)[] = [];
  await console.page.route('**/api/operator/runs/*/stop', (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    return keys.length === 1 ? route.abort() : route.fulfill({ json: { result: 'nothing' } });
  });
  await console.page.getByRole('link', { name: 'Runs' }).click();
  await console.click('choose-page');
  await console.click('retry-chosen');
  await console.at('plan').getByText('This is about 1 run.').waitFor();
  expect(await console.at('plan').textContent()).toContain('failed:1-x');
  await console.page.keyboard.press('Escape');
  await console.click('choose-page');
  await console.click('stop-chosen');
  await console.at('plan').getByText('running:1-x').waitFor();
  await console.click('confirm');
  await console.page.locator('[data-testid=many][data-status=over]').waitFor();
  expect(await console.at('many').textContent()).toBe('0 of 1 done, 1 skipped, 0 failed.');
  expect(keys).toEqual([expect.any(String), keys[0]]);
  await console.leave();
});
