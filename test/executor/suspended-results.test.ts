import { beforeAll, describe, expect, it } from '@jest/globals';
import { AgentRegistry } from '../../agents/index.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import {
  createExecutorOf,
  type TemporalAgentExecutor,
} from '../../executor/create-agent-executor.js';
import { charge } from '../support/lab-calls.js';
import { createRunHarness } from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const agent = createLabAgent({ countCharge: () => Promise.resolve(1) });
let stores: TestStores;
let executor: TemporalAgentExecutor;
/** The same sessions, seen from another process. */
let elsewhere: TemporalAgentExecutor;

beforeAll(async () => {
  stores = await openTestStores();
  const runs = await createRunHarness(stores, [agent]);
  const agents = new AgentRegistry([agent]);
  executor = createExecutorOf({ runs: runs.executor, agents, ...stores });
  const others = await openTestStores('api');
  elsewhere = createExecutorOf({ runs: runs.executor, agents, ...others });
  await runs.startWorker();
});

const perform = (...script: object[]) => executor.execute(agent, JSON.stringify({ script }));
const yes = (toolCallId: string) =>
  ({ kind: 'approval-response', toolCallId, approved: true }) as const;

describe('the result of a run that waits', () => {
  it('is a partial step when other calls of it have results; after the answers it is the end', async () => {
    const handle = await perform(
      { calls: [{ tool: 'echo', id: 'e' }, charge('c1'), charge('c2')] },
      { say: 'paid' },
    );
    const partial = {
      status: 'suspended_step_partial',
      suspended: { toolCallIds: ['c1', 'c2'], stepId: 's1' },
    };
    expect(await handle.result()).toMatchObject(partial);
    const found = await elsewhere.getHandle(handle.sessionId);
    expect(await found?.result()).toMatchObject(partial);
    expect(await handle.submitToolResult(yes('c2'))).toMatchObject({ resumed: false });
    expect(await found?.result()).toMatchObject({ status: 'suspended_step_partial' });
    expect(await handle.submitToolResult(yes('c1'))).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'paid' });
  });

  it('names the sub-agents that it waits for; they are answered by its own handle', async () => {
    const script = [{ calls: [charge('c1')] }, { say: 'paid below' }];
    const handle = await perform(
      { calls: [{ tool: 'delegate', id: 'd1', args: { script } }] },
      { say: 'all paid' },
    );
    const waiting = await handle.result();
    expect(waiting).toMatchObject({
      status: 'suspended_awaiting_children',
      suspended: { children: [{ subAgentType: 'lab-child', callId: 'd1' }] },
    });
    const found = await elsewhere.getHandle(handle.sessionId);
    expect(await found?.result()).toEqual(waiting);
    expect(await handle.submitToolResult(yes('c1'))).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'all paid' });
  });

  it('says so again when the same turn waits once more', async () => {
    const handle = await perform({ calls: [charge('a')] }, { calls: [charge('b')] });
    for (const id of ['a', 'b']) {
      expect(await handle.result()).toMatchObject({
        status: 'suspended_client_tool',
        suspended: { toolCallIds: [id] },
      });
      await handle.submitToolResult(yes(id));
    }
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'done' });
  });
});
