import type { ActivityDeps } from '../../activities/deps.js';
import { createSettleChild } from '../../activities/settle-child.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantRow } from '../../protocol/rows.js';
import { childAt, grow, heldCall, type Tree } from '../../store/conformance/tree.js';
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

type Driver = Tree['children'][number]['driver'];

/** Settles the call of a sub-agent that has ended so; returns what the parent has of it. */
async function ended(finish: (driver: Driver, runId: string) => Promise<unknown>, runId?: string) {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const tree = await grow({ ...stores, session }, 1, () => []);
  const { driver, ref } = childAt(tree, 0);
  await finish(driver, ref.runId);
  const of = { sessionId: session.id, runId: tree.runId, agent: AGENT, step: 1, toolCallId: 'd1' };
  const settleChild = createSettleChild({ store: stores.store } as ActivityDeps);
  const child = { ...ref, runId: runId ?? ref.runId };
  await settleChild({ ...of, child });
  const [shown] = await session.messages('subagent_end');
  await settleChild({ ...of, child });
  expect(await session.messages('subagent_end')).toHaveLength(1);
  // The next step gets the row.
  await session.claim(session.writer(tree.runId, 2, 2));
  const row = (await session.rows()).find(({ role }) => role === 'tool');
  return { shown, row, record: await driver.record() };
}

it.each([
  ['small', 'x'.repeat(10), 'x'.repeat(10)],
  ['large', 'x'.repeat(LIMITS.inlineResultBytes), null],
])('the end of a sub-agent shows a %s result', async (_, text, result) => {
  const { shown, row } = await ended(async (driver, runId) => {
    const writer = driver.writer(runId, 1, 1);
    await driver.claim(writer);
    await driver.commit(writer, { output: text });
  });
  expect(shown).toMatchObject({ result });
  expect(row).toEqual({ role: 'tool', toolCallId: 'd1', toolName: 'subagent-tool', output: text });
});

it('a sub-agent without a structured result has its last text for one', async () => {
  const { row } = await ended(async (driver, runId) => {
    for (const [at, texts] of [['I begin.'], ['It is ', 'done.'], ['']].entries()) {
      const step = at + 1;
      const writer = driver.writer(runId, step, step);
      await driver.claim(writer);
      const parts = texts.map((text) => ({ type: 'text', text }) as const);
      const said: AssistantRow = { role: 'assistant', messageId: 'm', runId, step, parts };
      const goesOn = { outcome: { kind: 'calls', step, calls: [] }, final: undefined };
      await driver.commit(writer, { row: said, ...(step < 3 && goesOn) } as object);
    }
  });
  expect(row).toMatchObject({ output: 'It is done.' });
});

const failure = (code: string) => ({ code, message: 'no more', retryable: true });
const LOST = { error: 'The sub-agent was lost.', code: 'framework_subagent_lost' };

it.each<[string, Parameters<typeof ended>, typeof LOST, cause: string | undefined]>([
  [
    'failed',
    [(driver, runId) => driver.end(runId, 'failed', { error: failure('provider_error') })],
    { error: 'no more', code: 'subagent_failed' },
    'provider_error',
  ],
  [
    'was one too many',
    [(driver, runId) => driver.end(runId, 'failed', { error: failure('subagent_limit') })],
    { error: 'no more', code: 'subagent_limit' },
    'subagent_limit',
  ],
  [
    'was stopped',
    [(driver, runId) => driver.end(runId, 'interrupted')],
    { error: 'The sub-agent was stopped.', code: 'subagent_failed' },
    undefined,
  ],
  ['is lost', [() => Promise.resolve()], LOST, undefined],
  ['is another run', [() => Promise.resolve(), 's:9-x'], LOST, undefined],
])('the call of a sub-agent that %s fails so', async (how, finish, result, cause) => {
  const { shown, row, record } = await ended(...finish);
  const { error: text, code: errorCode } = result;
  expect([shown?.result, shown?.cause]).toEqual([result, cause]);
  expect(row).toMatchObject({ error: text, errorCode });
  const error = { code: LOST.code, message: LOST.error, retryable: false };
  if (how === 'is lost') expect(record).toMatchObject({ status: 'failed', error });
});
