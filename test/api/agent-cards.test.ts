import { z } from 'zod';
import {
  AgentRegistry,
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
} from '../../agents/index.js';
import { toAgentCards } from '../../api/agent-cards.js';
import { fakeTool } from '../support/fake-tool.js';

const base = { systemPrompt: 'x', llmConfig: { model: createScriptedModel() } };

describe('toAgentCards', () => {
  it('a card has what pages show, with the name where there is no title', () => {
    const agents = new AgentRegistry([
      defineAgent({
        ...base,
        name: 'shop',
        description: 'Sells.',
        page: { title: 'Shop', openers: ['Hello', { label: 'Run', text: '{}' }], listed: false },
      }),
      defineAgent({ ...base, name: 'plain' }),
    ]);
    expect(toAgentCards(agents)).toEqual([
      {
        name: 'shop',
        title: 'Shop',
        description: 'Sells.',
        openers: [
          { label: 'Hello', text: 'Hello' },
          { label: 'Run', text: '{}' },
        ],
        tools: [],
        listed: false,
      },
      {
        name: 'plain',
        title: 'plain',
        description: undefined,
        openers: [],
        tools: [],
        listed: true,
      },
    ]);
  });

  it('a card names the tools that have titles, and those that other agents carry out', () => {
    const inputSchema = z.object({});
    const inner = defineAgent({
      ...base,
      name: 'inner',
      description: 'Finds.',
      page: { title: 'Finder' },
    });
    const tools = [
      fakeTool('pay', () => 1, { title: 'Pay a bill', inputSchema }),
      defineTool({ name: 'plain', description: 'Does.', inputSchema, execute: () => 1 }),
      createSubAgentTool({ agent: inner, name: 'find', inputSchema }),
    ];
    const [card] = toAgentCards(new AgentRegistry([defineAgent({ ...base, name: 'shop', tools })]));
    expect(card?.tools).toEqual([
      { name: 'pay', title: 'Pay a bill' },
      { name: 'find', agent: 'Finder' },
    ]);
  });

  it('an agent that only other agents may talk to has none', () => {
    const agents = new AgentRegistry([defineAgent({ ...base, name: 'inner', public: false })]);
    expect(toAgentCards(agents)).toEqual([]);
  });

  it('a factory, which makes its agent for a conversation, is not called', () => {
    const agents = new AgentRegistry();
    agents.registerFactory('made', () => {
      throw new Error('called');
    });
    expect(toAgentCards(agents)).toMatchObject([{ name: 'made', title: 'made', openers: [] }]);
  });

  it('wrong fields of a page are named', () => {
    const page = { tittle: 'Shop' } as never;
    expect(() => defineAgent({ ...base, name: 'shop', page })).toThrow('page');
  });
});
