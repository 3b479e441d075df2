import {
  AgentRegistry,
  isScriptedModel,
  type AgentDefinition,
  type ToolContext,
  type ToolDefinition,
} from '../../agents/index.js';
import { createExampleAgents, createLabAgent } from '../../examples/index.js';

const charges: string[] = [];
const agent = createLabAgent({
  countCharge: (key) => {
    charges.push(key);
    return Promise.resolve(1);
  },
});

const context: ToolContext = {
  sessionId: 's1',
  runId: 's1:1-x',
  agentId: 's1',
  agentType: 'lab',
  toolCallId: 'c1',
  idempotencyKey: 's1:1-x::c1',
  attempt: 1,
  abortSignal: new AbortController().signal,
  emit: () => Promise.resolve(),
  getState: () => ({}) as never,
  updateState: () => undefined,
  stepNumber: 1,
  forward: () => Promise.resolve(),
  isHandedOver: () => false,
  showPreliminary: () => undefined,
  services: {},
};

function find(name: string): ToolDefinition {
  const tool = agent.tools.find((tool) => tool.name === name);
  if (tool === undefined) throw new Error(`lab has no tool ${name}`);
  return tool;
}

/** Runs a tool as the runtime does: with what its schema made of the input. */
async function run(
  name: string,
  input: unknown,
  extra: Partial<ToolContext> = {},
): Promise<unknown> {
  const { execute, inputSchema } = find(name);
  if (typeof execute !== 'function') throw new Error(`${name} does not run on a worker`);
  return await execute(inputSchema.parse(input), { ...context, ...extra });
}

describe('the lab agent', () => {
  it('the lab agent runs on the scripted model, whatever model people get', () => {
    expect(agent.name).toBe('lab');
    expect(isScriptedModel(agent.llmConfig.model)).toBe(true);
    const agents = createExampleAgents({ countCharge: () => Promise.resolve(), model: 'a/b' });
    expect(agents.map(({ name, llmConfig }) => [name, llmConfig.model])).toEqual([
      ['lab', expect.objectContaining({ modelId: 'scripted' })],
      ['lab-leg', expect.objectContaining({ modelId: 'scripted' })],
      ['support', 'a/b'],
    ]);
  });

  it('the lab agent echoes its input', async () => {
    expect(await run('echo', { value: { deep: [1] } })).toEqual({ value: { deep: [1] } });
  });

  it('the lab agent has a tool that throws', async () => {
    await expect(run('boom', { message: 'bang' })).rejects.toThrow('bang');
  });

  it('the lab agent sleeps until it is stopped', async () => {
    expect(await run('sleep', { ms: 1 })).toEqual({ slept: 1 });
    const stop = new AbortController();
    const asleep = run('sleep', { ms: 600_000 }, { abortSignal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(asleep).rejects.toThrow('stopped');
    expect(find('sleep').inputSchema.safeParse({ ms: 600_001 }).success).toBe(false);
  });

  it('the lab agent charges after approval, under the key of the call, and never repeats a charge automatically', async () => {
    const { requireApproval, idempotent } = find('charge');
    expect([requireApproval, idempotent]).toEqual([true, undefined]);
    expect(await run('charge', { amount: 5 })).toEqual({ charged: 5, key: 's1:1-x::c1' });
    expect(charges).toEqual(['s1:1-x::c1']);
  });

  it('the lab agent asks the browser, once with a deadline', () => {
    expect(find('locate')).toMatchObject({ execute: 'client' });
    expect(find('ask')).toMatchObject({ execute: 'client', deadlineMs: 2_000 });
  });

  it('the lab agent reports its progress as events', async () => {
    const events: unknown[] = [];
    const emit = (...event: unknown[]): Promise<void> => {
      events.push(event);
      return Promise.resolve();
    };
    expect(await run('progress', { steps: 2 }, { emit })).toEqual({ steps: 2 });
    expect(events).toEqual([
      ['progress', { step: 1, of: 2 }],
      ['progress', { step: 2, of: 2 }],
    ]);
  });

  it('the lab agent delegates to agents that are registered along, which perform the script', () => {
    const agents = new AgentRegistry([agent]);
    expect(agents.getRegisteredTypes()).toEqual(['lab', 'lab-child', 'lab-report']);
    const script = [{ say: 'hi' }];
    const message = (name: string, input: unknown): unknown => {
      const { subAgent, inputSchema } = find(name);
      return JSON.parse(subAgent?.toMessage(inputSchema.parse(input)) ?? '');
    };
    expect(message('delegate', { script })).toEqual({ script });
    expect(message('report', { script })).toEqual({ script });
    expect(message('report', {})).toEqual({ script: [{ finish: { answer: 42 } }] });
    const child = agents.resolve('lab-child');
    expect(child.tools.map(({ name }) => name)).toEqual(['echo', 'charge', 'locate', 'wait']);
    expect(agents.resolve('lab-report').outputSchema?.safeParse({ answer: 1 }).success).toBe(true);
  });

  it('has a twin whose runs, and those of its sub-agents, are in legs; by a setting it has them itself', () => {
    const shapesOf = (definitions: AgentDefinition[]) => {
      const agents = new AgentRegistry(definitions);
      return Object.fromEntries(
        agents.getRegisteredTypes().map((name) => [name, agents.resolve(name).activities]),
      );
    };
    const legs = { 'lab-leg': 'leg', 'lab-leg-child': 'leg', 'lab-leg-report': 'leg' };
    expect(shapesOf(createExampleAgents({}))).toMatchObject({
      lab: undefined,
      'lab-child': undefined,
      'lab-report': undefined,
      ...legs,
    });
    expect(shapesOf(createExampleAgents({ labShape: 'leg' }))).toMatchObject({
      lab: 'leg',
      'lab-child': 'leg',
      'lab-report': 'leg',
      ...legs,
    });
  });
});
