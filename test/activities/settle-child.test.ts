import type { ActivityDeps } from '../../activities/deps.js';
import { createSettleChild } from '../../activities/settle-child.js';
import type { Case } from '../../stores/conformance/suite.js';
import { childAt, grow, heldCall } from '../../stores/conformance/tree.js';
import { createMemoryStores } from '../../stores/memory/index.js';
import { AGENT, drive, newSessionId } from '../support/session-driver.js';

it('a run learns that its lost sub-agent was the last that asked, also from a second attempt', async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const tree = await grow({ ...stores, session } as unknown as Case, 1, (runId) => [
    heldCall(runId, 'own'),
  ]);
  const { driver, ref: child } = childAt(tree, 0);
  await driver.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
  await session.decide(tree.runId, 'own', true);
  const settleChild = createSettleChild({ store: stores.store } as unknown as ActivityDeps);
  const of = { sessionId: session.id, runId: tree.runId, agent: AGENT, step: 1 };
  const ref = { ...of, toolCallId: 'd1', child, lost: true };
  const next = { do: 'open', step: 1, machine: ['own'] };
  for (const attempt of [1, 2]) {
    expect([attempt, await settleChild(ref)]).toMatchObject([attempt, { at: { next } }]);
  }
});
