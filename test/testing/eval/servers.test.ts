import { defineAgent, type AgentDefinition, type ScriptStep } from '../../../agents/index.js';
import { mcpServers, type StdioMcpServer } from '../../../extensions/mcp/index.js';
import {
  createScriptedModel,
  createTestRuntime,
  evaluateCase,
  parseCase,
} from '../../../testing/index.js';
import { byStdio } from '../../support/mcp-servers.js';
import { until } from '../../support/until.js';
import { fakeTool } from '../../support/fake-tool.js';

const call = (tool: string, id: string, text: string): ScriptStep => ({
  calls: [{ tool, id, args: { text } }],
});
const SCRIPT = [call('s_look', 'c1', 'here'), call('s_change', 'c2', 'there'), { say: 'Done.' }];

function agentOf(
  server: StdioMcpServer,
  script: readonly ScriptStep[],
  called: string[] = [],
): AgentDefinition {
  const own = fakeTool('own', () => ({}));
  return defineAgent({
    name: 'sea',
    systemPrompt: 'Help.',
    tools: [own],
    toolSources: [mcpServers({ s: server })],
    onStepFinish: () => void called.push('step'),
    onFinish: () => void called.push('finish'),
    llmConfig: { model: createScriptedModel(script) },
  });
}

const childProcesses = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;

describe('a recorded case of an agent with servers of tools', () => {
  it('gets what was recorded, and neither servers nor hooks are called', async () => {
    const { server, notes } = await byStdio();
    const before = childProcesses();
    const runtime = await createTestRuntime({ agents: [agentOf(server, SCRIPT)] });
    let run = await runtime.run('sea', 'Look, then change.');
    run = await run.approve('s_change', { by: 'ann' });
    run.expectStatus('completed');
    const recorded = parseCase(JSON.stringify(await runtime.record(run.sessionId, 'sea')));
    expect(childProcesses()).toBe(before + 1);
    await runtime.close();
    await until('the server is gone', () => childProcesses() === before);
    const carriedOut = await notes();
    expect(carriedOut.join()).toMatch(/started,look .*,change /);

    const called: string[] = [];
    const same = await evaluateCase(recorded, { agents: [agentOf(server, SCRIPT, called)] });
    expect(same.lanes.at(-1)?.differences).toEqual([]);
    const other = [call('s_look', 'c1', 'elsewhere'), ...SCRIPT.slice(1)];
    const changed = await evaluateCase(recorded, {
      agents: [agentOf(server, other, called)],
      live: ['s_look'],
    });
    expect(changed.failures[0]).toEqual({
      in: 'drift',
      text: 's_look({"text":"elsewhere"}) was not recorded',
    });
    expect(await notes()).toEqual(carriedOut);
    expect(called).toEqual([]);
  });

  it('leaves a question behind that people left behind then', async () => {
    const { server } = await byStdio();
    const script = [call('s_change', 'c1', 'there'), { say: 'As you like.' }];
    const runtime = await createTestRuntime({ agents: [agentOf(server, script)] });
    const asked = await runtime.run('sea', 'Change it.');
    const run = await asked.send('Never mind.');
    const recorded = parseCase(JSON.stringify(await runtime.record(run.sessionId, 'sea')));
    await runtime.close();
    const again = await evaluateCase(recorded, { agents: [agentOf(server, script)] });
    expect(again.lanes.at(-1)?.differences).toEqual([]);
    expect(again.failures).toEqual([]);
  });
});
