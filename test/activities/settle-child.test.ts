import type { ActivityDeps } from '../../activities/deps.js';
import { createSettleChild } from '../../activities/settle-child.js';
import type { Case } from '../../stores/conformance/suite.js';
import { childAt, grow, heldCall } from '../../stores/conformance/tree.js';
import type { Wake } from '../../stores/contract/call-record.js';
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
  const woken: Wake[] = [];
  const settleChild = createSettleChild({
    store: stores.store,
    wake: (wake: Wake) => {
      woken.push(wake);
      return woken.length === 1 ? Promise.reject(new Error('Temporal is away')) : Promise.resolve();
    },
  } as unknown as ActivityDeps);
  const of = { sessionId: session.id, runId: tree.runId, agent: AGENT, step: 1 };
  const ref = { ...of, toolCallId: 'd1', child, lost: true };
  await expect(settleChild(ref)).rejects.toThrow('Temporal is away');
  await expect(settleChild(ref)).resolves.toEqual({ kind: 'settled' });
  const { sessionId, runId } = of;
  const wake = { sessionId, runId, resume: { step: 1, approved: ['own'] } };
  expect(woken).toEqual([wake, wake]);
  await session.start(tree.runId, 1, 'own', 1);
  await settleChild(ref);
  expect(woken).toHaveLength(2);
});
