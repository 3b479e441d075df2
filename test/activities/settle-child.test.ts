import type { ActivityDeps } from '../../activities/deps.js';
import { createSettleChild } from '../../activities/settle-child.js';
import { LIMITS } from '../../protocol/limits.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { AGENT, drive, newSessionId } from '../support/session-driver.js';

/** A run that has asked for approval of a call of its own, with sub-agents whose first asks as well. */
async function delegate(more: Partial<ActivityDeps> = {}, count = 1) {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const tree = await grow({ ...stores, session }, count, (runId) => [heldCall(runId, 'own')]);
  const { driver, ref: child } = childAt(tree, 0);
  await driver.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
  const settleChild = createSettleChild({ store: stores.store, ...more } as ActivityDeps);
  const of = { sessionId: session.id, runId: tree.runId, agent: AGENT, step: 1 };
  return { session, tree, settleChild, ref: { ...of, toolCallId: 'd1', child } };
}

it.each([
  ['at work before Temporal knows it', 'unknown', false, true],
  ['lost once its workflow is closed', 'closed', true, false],
  ['lost once its workflow was deleted', 'unknown', true, false],
] as const)('a sub-agent is %s', async (_how, state, hasBegun, expected) => {
  const { settleChild, ref } = await delegate({ workflowState: () => Promise.resolve(state) });
  const child = hasBegun ? ref.child : { ...ref.child, sessionId: `${ref.child.sessionId}0` };
  const { isAtWork = false } = await settleChild({ ...ref, child, started: true });
  expect(isAtWork).toBe(expected);
});

it('a run learns that its lost sub-agent was the last that asked, also from a second attempt', async () => {
  const { session, tree, settleChild, ref } = await delegate();
  await session.decide(tree.runId, 'own', true);
  const next = { do: 'open', step: 1, machine: ['own'] };
  for (const attempt of [1, 2]) {
    expect([attempt, await settleChild(ref)]).toMatchObject([attempt, { at: { next } }]);
  }
});

it('a sub-agent whose call was approved goes on when the last one that asked has ended', async () => {
  const woken: string[] = [];
  const wake: ActivityDeps['wake'] = ({ runId }) => Promise.resolve(void woken.push(runId));
  const { session, tree, settleChild, ref } = await delegate({ wake }, 2);
  const { driver, ref: other } = childAt(tree, 1);
  await driver.ask(other.runId, 1, [heldCall(other.runId, 'y')]);
  await driver.decide(other.runId, 'y', true);
  await session.decide(tree.runId, 'own', true);
  await settleChild(ref);
  expect(woken).toEqual([other.runId]);
});

it.each([
  ['small', 'x'.repeat(10), 'x'.repeat(10)],
  ['large', 'x'.repeat(LIMITS.inlineResultBytes), null],
])('the end of a sub-agent shows a %s result', async (_, text, shown) => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const tree = await grow({ ...stores, session }, 1, () => []);
  const { driver, ref: child } = childAt(tree, 0);
  const writer = driver.writer(child.runId, 1, 1);
  await driver.claim(writer);
  await driver.commit(writer, { output: text });
  const of = { sessionId: session.id, runId: tree.runId, agent: AGENT, step: 1 };
  const settleChild = createSettleChild({ store: stores.store } as ActivityDeps);
  await settleChild({ ...of, toolCallId: 'd1', child });
  expect(await session.messages('subagent_end')).toMatchObject([{ result: shown }]);
});
