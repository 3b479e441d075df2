import { z } from 'zod';
import {
  AgentRegistry,
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
  isSubAgentTool,
  SUBAGENT_TOOL_PREFIX,
  type AgentDefinition,
} from '../../agents/index.js';

const researcher = defineAgent({
  name: 'researcher',
  description: 'Finds out.',
  systemPrompt: 'Find out.',
  llmConfig: { model: createScriptedModel() },
});
const inputSchema = z.object({ question: z.string() });

describe('createSubAgentTool', () => {
  it('createSubAgentTool names the tool after the agent, and passes it the input as JSON', () => {
    const tool = createSubAgentTool({ agent: researcher, inputSchema });
    expect(tool.name).toBe('subagent__researcher');
    expect(tool.name.startsWith(SUBAGENT_TOOL_PREFIX)).toBe(true);
    expect(tool).toMatchObject({ description: 'Finds out.', execute: 'agent' });
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool.subAgent?.agent).toBe(researcher);
    expect(tool.subAgent?.toMessage({ question: 'why' })).toBe('{"question":"why"}');
  });

  it('createSubAgentTool accepts its own name, description and message', () => {
    const tool = createSubAgentTool({
      agent: researcher,
      inputSchema,
      name: 'delegate',
      description: 'Asks another agent.',
      toMessage: ({ question }) => `Please: ${question}`,
    });
    expect(tool).toMatchObject({ name: 'delegate', description: 'Asks another agent.' });
    expect(tool.subAgent?.toMessage({ question: 'why' })).toBe('Please: why');
  });

  it('isSubAgentTool distinguishes sub-agent tools from other tools', () => {
    const other = defineTool({ name: 'a', description: 'A.', inputSchema, execute: 'client' });
    expect(isSubAgentTool(other)).toBe(false);
    expect(isSubAgentTool(createSubAgentTool({ agent: researcher, inputSchema }))).toBe(true);
  });
});

describe('AgentRegistry', () => {
  const parentOf = (child: AgentDefinition) =>
    defineAgent({
      name: 'parent',
      systemPrompt: '',
      tools: [createSubAgentTool({ agent: child, inputSchema, description: 'Asks.' })],
      llmConfig: { model: createScriptedModel() },
    });

  it('AgentRegistry registers sub-agents along with their parents, at any depth', () => {
    const middle = defineAgent({ ...parentOf(researcher), name: 'middle' });
    const agents = new AgentRegistry([parentOf(middle), researcher]);
    expect(agents.getRegisteredTypes()).toEqual(['parent', 'middle', 'researcher']);
    expect(agents.resolve('researcher')).toBe(researcher);
  });

  it('AgentRegistry refuses a sub-agent whose name another agent has', () => {
    const agents = new AgentRegistry([defineAgent({ ...researcher, systemPrompt: 'Other.' })]);
    expect(() => {
      agents.register(parentOf(researcher));
    }).toThrow('Agent "researcher": another agent is registered under this name');
    expect(agents.getRegisteredTypes()).toEqual(['researcher']);
  });
});
