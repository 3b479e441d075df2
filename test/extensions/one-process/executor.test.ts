import { z } from 'zod';
import { createSubAgentTool, defineAgent, type ToolSource } from '../../../agents/index.js';
import { handleChatStream } from '../../../ai-sdk/index.js';
import {
  createInProcessExecutor,
  type AgentResult,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import { createTestAgent } from '../../support/test-agent.js';
import { userMessage } from '../../support/session-driver.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

const STORES = [
  ['memory', () => Promise.resolve(createMemoryStores())],
  ['Redis', () => openTestStores()],
] as const;

let names = 0;
function newName(): string {
  names += 1;
  return `test-${String(process.pid)}-${String(Date.now())}-${String(names)}`;
}

function open(options: Parameters<typeof createInProcessExecutor>[0]): InProcessExecutor {
  // A unique name keeps tests apart, since they share their users.
  const executor = createInProcessExecutor({ name: newName(), ...options });
  atEndOfFile(() => executor.close());
  return executor;
}

const calls = (...wanted: [tool: string, id: string][]): string =>
  JSON.stringify({ calls: wanted.map(([tool, id]) => ({ tool, id })) });
const hang = JSON.stringify({ hang: true });

/** An agent that delegates to another one, which asks for approval. */
function createDelegating() {
  const { agent: worker, executed } = createTestAgent('worker');
  const delegate = createSubAgentTool({
    name: 'delegate',
    description: 'Delegates.',
    inputSchema: z.object({ task: z.string() }),
    toMessage: ({ task }: { task: string }) => task,
    agent: worker,
  });
  const task = calls(['charge', 'c1']);
  const model = fakeModel(sayInTurn(parts.asks(parts.call('d1', 'delegate', { task }))));
  return { boss: fakeAgent('boss', model, { tools: [delegate] }), executed };
}

/** Returns the ids of the calls that a person would see. */
function pendingOf(result: AgentResult): string[] {
  return 'pending' in result ? result.pending.map(({ toolCallId }) => toolCallId) : [];
}

describe.each(STORES)('runs in one process over %s', (_name, openStores) => {
  it('a run has its text live and afterwards, and the next one sees the conversation', async () => {
    const { agent } = createTestAgent();
    const executor = open({ agents: [agent], stores: await openStores() });
    const handle = await executor.execute('tester', 'hello', { userId: 'ann' });
    let live = '';
    for await (const chunk of handle.stream()) {
      if (chunk.type === 'text_delta') live += chunk.delta;
    }
    expect(live).toBe('You said hello');
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'You said hello' });
    const { sessionId } = handle;
    const next = await executor.execute('tester', 'again', { sessionId, userId: 'ann' });
    await next.result();
    expect(await executor.listRuns(sessionId)).toHaveLength(2);
    await executor.idle();
  });

  it('a tool runs at once, and one that needs approval when a person has approved', async () => {
    const { agent, executed } = createTestAgent();
    const executor = open({ agents: [agent], stores: await openStores() });
    const handle = await executor.execute('tester', calls(['echo', 'e1'], ['charge', 'c1']));
    const asked = await handle.result();
    expect(pendingOf(asked)).toEqual(['c1']);
    await until('the other call has run', () => Promise.resolve(executed.includes('e1')));
    await expect(executor.execute('tester', 'x', { sessionId: 'a b' })).rejects.toMatchObject({
      code: 'validation_error',
    });
    expect(await handle.approve('c1', { by: 'ann' })).toMatchObject({ resumed: true });
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'done' });
    expect(executed).toEqual(['e1', 'c1']);
    await expect(handle.approve('c1')).rejects.toMatchObject({ code: 'already_completed' });
  });

  it('a stop reaches a model that speaks, and the run can be resumed', async () => {
    const { agent } = createTestAgent();
    const stores = await openStores();
    const executor = open({ agents: [agent], stores });
    const handle = await executor.execute('tester', hang);
    await until('it speaks', async () => {
      const entries = await stores.streamManager.read(handle.sessionId, 0, 9);
      return entries.some(({ message }) => message.type === 'text_delta');
    });
    await handle.interrupt({ reason: 'enough' });
    expect(await handle.result()).toMatchObject({ status: 'interrupted', text: 'And' });
    expect(await executor.canResume(handle.sessionId)).toMatchObject({ canResume: true });
    const again = await handle.resume({ message: 'continue' });
    expect(await again.result()).toMatchObject({ status: 'completed', text: 'You said continue' });
  });

  it('a stop reaches a tool that runs', async () => {
    const seen: string[] = [];
    const slow = fakeTool(
      'slow',
      (_, { abortSignal }) =>
        new Promise((_, reject) => {
          seen.push('runs');
          abortSignal.addEventListener('abort', () => {
            seen.push('is cut');
            reject(new Error('cut'));
          });
        }),
    );
    const model = fakeModel(sayInTurn(parts.asks(parts.call('c1', 'slow', {}))));
    const agent = fakeAgent('slow', model, { tools: [slow] });
    const stores = await openStores();
    const executor = open({ agents: [agent], stores });
    const handle = await executor.execute('slow', 'go');
    await until('it runs', () => seen.length === 1);
    await handle.interrupt({ reason: 'enough' });
    expect(await handle.result()).toMatchObject({ status: 'interrupted', reason: 'enough' });
    // The run ends with the stop; the tool learns of it beside that.
    await until('the tool is cut', () => seen.length === 2);
    expect(seen).toEqual(['runs', 'is cut']);
    expect(await stores.store.sessions.rows(handle.sessionId, 2)).toMatchObject([
      { toolCallId: 'c1', errorCode: 'tool_outcome_unknown' },
    ]);
    await executor.idle();
  });

  it('a stop ends a run that waits for a person', async () => {
    const { agent, executed } = createTestAgent();
    const executor = open({ agents: [agent], stores: await openStores() });
    const handle = await executor.execute('tester', calls(['charge', 'c1']));
    await handle.result();
    await handle.abort();
    expect(await handle.result()).toMatchObject({ status: 'failed' });
    await executor.idle();
    expect(executed).toEqual([]);
  });

  it('a message that comes while a run is active waits for its turn', async () => {
    const { agent, open: release, reached } = createGatedAgent();
    const executor = open({ agents: [agent], stores: await openStores() });
    const handle = await executor.execute('gated', 'speak one');
    await reached('one');
    const { sessionId } = handle;
    const queued = await executor.runs.execute({
      sessionId,
      agent: 'gated',
      owner: 'anonymous',
      policy: 'queue',
      messages: [userMessage('m2', 'hello')],
    });
    expect(queued.kind).toBe('queued');
    release('one');
    await handle.result();
    await until('the queued message has its reply', async () => {
      const runs = await executor.listRuns(sessionId);
      return runs.length === 2 && runs.every(({ status }) => status === 'completed');
    });
  });

  it('a sub-agent is a run of its own, whose question is answered in the conversation', async () => {
    const { boss, executed } = createDelegating();
    const executor = open({ agents: [boss], stores: await openStores() });
    const handle = await executor.execute('boss', 'work');
    const asked = await handle.result();
    expect(pendingOf(asked)).toHaveLength(1);
    await handle.approve(pendingOf(asked)[0] ?? '');
    await until('it has ended', async () => (await handle.result()).status === 'completed');
    expect(executed).toHaveLength(1);
    await executor.idle();
  });

  it('a run that an executor leaves is carried on by the next one, and nothing runs twice', async () => {
    const { agent, executed } = createTestAgent();
    const gated = createGatedAgent();
    const stores = await openStores();
    const name = newName();
    const first = open({ agents: [agent, gated.agent], stores, name });
    const waiting = await first.execute('tester', calls(['echo', 'e1'], ['charge', 'c1']));
    await waiting.result();
    const speaking = await first.execute('gated', 'speak one');
    await gated.reached('one');
    const left = expect(speaking.result()).rejects.toMatchObject({ code: 'unavailable' });
    await first.close();
    await left;
    expect(pendingOf(await waiting.result())).toEqual(['c1']);

    const second = open({ agents: [agent, gated.agent], stores, name });
    expect(await second.recover()).toBe(2);
    gated.open('one');
    const spoken = await second.getHandle(speaking.sessionId);
    expect(await spoken?.result()).toMatchObject({
      status: 'completed',
      text: 'Once upon a time',
    });
    const asked = await second.getHandle(waiting.sessionId);
    await asked?.approve('c1');
    expect(await asked?.result()).toMatchObject({ status: 'completed', text: 'done' });
    expect(executed).toEqual(['e1', 'c1']);
  });

  it('a message that comes after the close is answered by the next executor', async () => {
    const options = { agents: [createTestAgent().agent], stores: await openStores() };
    const name = newName();
    const first = open({ ...options, name });
    await first.close();
    const { sessionId } = await first.execute('tester', 'hello');
    await first.idle();
    expect((await options.stores.store.sessions.read(sessionId))?.status).toBe('starting');
    const second = open({ ...options, name });
    expect(await second.recover()).toBe(1);
    const handle = await second.getHandle(sessionId);
    expect(await handle?.result()).toMatchObject({ text: 'You said hello' });
  });

  it('a run of a paused agent does not begin because another executor recovers', async () => {
    const options = { agents: [createTestAgent().agent], stores: await openStores() };
    const name = newName();
    const first = open({ ...options, name });
    const pause = { agent: 'tester', everywhere: false, by: 'olga', reason: 'a storm' };
    await first.runs.pauses.pause(pause);
    const { sessionId } = await first.execute('tester', 'hello');
    await first.close();
    const second = open({ ...options, name });
    expect(await second.recover()).toBe(1);
    await second.idle();
    const record = await options.stores.store.sessions.read(sessionId);
    expect(record?.status).toBe('starting');
  });

  it('a run whose agent is unknown ends, and those behind it are recovered', async () => {
    const { agent } = createTestAgent();
    const old = createTestAgent('old').agent;
    const stores = await openStores();
    const name = newName();
    const first = open({ agents: [agent, old], stores, name });
    const ask = (of: string) => first.execute(of, calls(['charge', 'c1']));
    const left = [await ask('old'), await ask('tester'), await ask('old'), await ask('tester')];
    for (const handle of left) await handle.result();
    await first.close();

    const second = open({ agents: [agent], stores, name });
    expect(await second.recover()).toBe(2);
    const states = left.map(async ({ sessionId }) => {
      const record = await stores.store.sessions.read(sessionId);
      return [record?.status, record?.error?.code];
    });
    const ended = ['failed', 'agent_not_found'];
    const waits = ['waiting_approval', undefined];
    expect(await Promise.all(states)).toEqual([ended, waits, ended, waits]);
  });

  it('an agent that nobody here knows is refused at once, also for what it began before', async () => {
    const { agent } = createTestAgent();
    const stores = await openStores();
    const name = newName();
    const first = open({ agents: [agent], stores, name });
    const { sessionId } = await first.execute('tester', 'hello');
    await (await first.getHandle(sessionId))?.result();
    await first.close();

    const second = open({ stores, name });
    const deps = {
      executor: second,
      stateStore: stores.store,
      streamManager: stores.streamManager,
    };
    const messages = [{ id: 'u9', role: 'user' as const, content: 'hello' }];
    const asked = await handleChatStream(
      { ...deps, agent: 'ghost' },
      { sessionId: 'new', messages },
    );
    expect(asked.status).toBe(400);
    expect(await asked.json()).toMatchObject({ code: 'agent_not_found' });
    const refused = { code: 'agent_not_found' };
    await expect(second.retry({ sessionId })).rejects.toMatchObject(refused);
    await expect(
      second.resume({ sessionId, mode: 'with_message', message: 'go on' }),
    ).rejects.toMatchObject(refused);
  });

  it('an answer brings a run back that no process has', async () => {
    const { agent, executed } = createTestAgent();
    const stores = await openStores();
    const name = newName();
    const first = open({ agents: [agent], stores, name });
    const handle = await first.execute('tester', calls(['charge', 'c1']));
    await handle.result();
    await first.close();
    const second = open({ agents: [agent], stores, name });
    const found = await second.getHandle(handle.sessionId);
    await found?.approve('c1');
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'done' });
    expect(executed).toEqual(['c1']);
  });

  it('a session is erased while its run waits, and leaves nothing', async () => {
    const { boss } = createDelegating();
    const stores = await openStores();
    const executor = open({ agents: [boss], stores });
    const handle = await executor.execute('boss', 'work');
    // A question of its sub-agent.
    await handle.result();
    await executor.deleteSession(handle.sessionId);
    expect(await stores.store.sessions.read(handle.sessionId)).toBeUndefined();
    await executor.idle();
  });
});

it('the close disconnects from the servers of tools', async () => {
  let connections = 0;
  const source: ToolSource = {
    name: 's',
    list: async (_taken, host) => {
      connections += 1;
      host.onClose(async () => {
        connections -= 1;
      });
      return [];
    },
    toTools: () => [],
    owns: () => false,
  };
  const llmConfig = { model: fakeModel(sayInTurn()) };
  const agent = defineAgent({ name: 'a', systemPrompt: '', toolSources: [source], llmConfig });
  const executor = open({ agents: [agent], stores: createMemoryStores() });
  await (await executor.execute('a', 'hello')).result();
  expect(connections).toBe(1);
  await executor.close();
  expect(connections).toBe(0);
});
