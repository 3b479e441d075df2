import { allExtensions } from '../../extensions/index.js';
import { toStoredSessionId } from '../../ai-sdk/index.js';
import { toDecideUrl } from '../../extensions/notify/decide-links.js';
import { hashInput } from '../../protocol/shown-call.js';
import { startOnMemory } from '../api/api-server.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { openTab } from '../support/page-driver.js';
import { drive, newCall, userMessage } from '../support/session-driver.js';

/** The page of a notice's link in Chromium, which sends its form without a referrer. */
it('the page of a link that decides is accessible, small enough for phones, and decides once', async () => {
  const key = 'k'.repeat(32);
  const notify = { receivers: [], publicUrl: 'http://localhost', linkKeys: [key] };
  const api = await startOnMemory({ extensions: allExtensions({ notify }) });
  const session = drive(api.stores, toStoredSessionId('mine', 'acme'));
  const messages = [userMessage('u1')];
  const { runId } = await session.newRun({ owner: 'ann', tenant: 'acme', messages });
  const input = { orderId: 'x'.repeat(80), lines: [{ sku: 'cup', count: 2 }] };
  const approvers = { roles: ['approver' as const] };
  await session.ask(runId, 1, [newCall('c1', 'approval', { input, approvers })]);
  const url = await toDecideUrl(api.url, key, {
    sub: 'bob',
    tenant: 'acme',
    roles: ['approver'],
    sessionId: session.id,
    runId,
    toolCallId: 'c1',
    inputHash: hashInput(input),
  });

  const { page, leave } = await openTab(url);
  const expectSound = async (): Promise<void> =>
    expect([...(await findBarriers(page)), ...(await findOverflow(page))]).toEqual([]);
  await page.setViewportSize({ width: 320, height: 640 });
  await expectSound();
  expect(await page.locator('dd').first().textContent()).toBe(input.orderId);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  await expectSound();
  const decided = await api.stores.store.calls.read(session.id, 'c1');
  expect(decided?.decision).toMatchObject({ approved: true, by: 'bob' });
  await page.goto(url);
  await page.getByText('This question has been answered.').waitFor();
  await expectSound();
  await leave();
});
