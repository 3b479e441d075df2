import { fileURLToPath } from 'node:url';
import { createMCPClient, type MCPClient } from '@ai-sdk/mcp';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { defineAgent, fromAgent, type AgentDefinition } from '../../agents/index.js';
import { createTestRuntime, type ScriptStep, type TestRuntime } from '../../testing/index.js';
import { load, openNotes, RUNNERS, scriptOf, type Runner } from '../examples/ai-sdk-examples.js';
import { fakeTool } from '../support/fake-tool.js';

// Tests the kit on the time-skipping server, and there the AI SDK's example agents, in both shapes.

const DEADLINE_MS = 3 * 24 * 3_600_000;

const SHAPES = ['default', 'leg'] as const;
type Shape = (typeof SHAPES)[number];
const inShape = (shape: Shape): { activities?: 'leg' } =>
  shape === 'leg' ? { activities: 'leg' } : {};
const runners = Object.keys(RUNNERS) as Runner[];
const nameOf = (example: string, by: Runner, shape: Shape): string =>
  [example, runners.indexOf(by), shape].join('-');

const late = fakeTool(
  'refund',
  ({ amount }, { services }) => ({ paid: amount, by: services['bank'] }),
  { inputSchema: z.object({ amount: z.number() }), requireApproval: true, deadlineMs: DEADLINE_MS },
);

let environment: TestWorkflowEnvironment;
let runtime: TestRuntime;
let notes: MCPClient;
beforeAll(async () => {
  const path = process.env['TEMPORAL_TEST_SERVER_PATH'] ?? '';
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  const agents: AgentDefinition[] = [];
  const models: Record<string, readonly ScriptStep[]> = {};
  notes = await createMCPClient({ transport: await openNotes() });
  const tools = await notes.tools();
  const add = (agent: AgentDefinition, script: readonly ScriptStep[]): void => {
    agents.push(agent);
    models[agent.name] = script;
  };
  for (const shape of SHAPES) {
    for (const by of runners) {
      for (const example of ['tools', 'agents', 'approvals'] as const) {
        const { agent } = load(example, by);
        const name = nameOf(example, by, shape);
        add(fromAgent(agent, { name, ...inShape(shape) }), scriptOf(example));
      }
    }
    const own = { name: `mcp-${shape}`, ...inShape(shape) };
    add(fromAgent({ model: 'openai/gpt-5', tools }, own), scriptOf('mcp'));
    const clerk = { name: `clerk-${shape}`, systemPrompt: '', llmConfig: { model: 'm' } };
    add(defineAgent({ ...clerk, tools: [late], ...inShape(shape) }), [
      { calls: [{ tool: 'refund', args: { amount: 5 } }] },
      { say: 'Done.' },
    ]);
  }
  runtime = await createTestRuntime({
    agents,
    models,
    temporal: environment,
    services: { bank: 'theirs' },
    workflows: {
      workflowsPath: fileURLToPath(new URL('../../extensions/workflows.ts', import.meta.url)),
    },
  });
});
afterAll(async () => {
  await runtime.close();
  await notes.close();
  await environment.teardown();
});

describe.each(SHAPES)('a test runtime on a server that skips time, shape %s', (shape) => {
  it('an approval is answered, and its deadline of days passes when time is advanced', async () => {
    const asked = await runtime.run(`clerk-${shape}`, 'Cold.');
    const paid = await asked.expectPending('refund', { amount: 5 }).approve('refund');
    await paid.expectCalls([{ tool: 'refund', output: { paid: 5, by: 'theirs' } }]);
    const other = await runtime.run(`clerk-${shape}`, 'Cold.');
    await runtime.advance(DEADLINE_MS + 100);
    const ended = (await other.next()).expectStatus('completed');
    await ended.expectCalls([{ tool: 'refund', approved: false }]);
    const { workflow } = environment.client;
    const { type } = await workflow.getHandle(`run:${ended.result.runId}`).describe();
    expect(type).toBe('agentRun');
  });

  it.each(runners)('the examples of the AI SDK, agents made by %s', async (by) => {
    const run = (example: string): ReturnType<typeof runtime.run> =>
      runtime.run(nameOf(example, by, shape), 'Go.');
    const weather = (await run('tools')).expectText('It is 70 °F in Rome.');
    await weather.expectCalls([
      { tool: 'weather', output: { celsius: 21 } },
      { tool: 'toFahrenheit', output: { fahrenheit: 70 } },
    ]);
    const research = (await run('agents')).expectText('compare,conclude. true');
    await research.expectStatus('completed').expectCalls(['search', 'conclude']);
    const asked = await run('approvals');
    const ended = await (await asked.approve('r2')).deny('r3');
    ended.expectText('r1 json,r2 json,r3 execution-denied');
  });

  it('tools of a client of the Model Context Protocol', async () => {
    (await runtime.run(`mcp-${shape}`, 'Go.')).expectText('The note: true');
  });
});
