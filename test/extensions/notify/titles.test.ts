import { z } from 'zod';
import { AgentRegistry, createSubAgentTool, defineAgent } from '../../../agents/index.js';
import { titleOfAgent, titleOfTool } from '../../../extensions/notify/message.js';
import { fakeTool } from '../../support/fake-tool.js';

const BASE = { systemPrompt: '', llmConfig: { model: 'scripted' } };

const tool = (name: string, title?: string) =>
  fakeTool(name, () => ({}), { ...(title !== undefined && { title }) });

it('agents and tools are named by their titles, and where there are none by their names in words', () => {
  const payer = defineAgent({
    ...BASE,
    name: 'payer',
    description: 'Pays.',
    tools: [tool('pay', 'Pay an invoice'), tool('lookupOrder', 'Look up a debt')],
  });
  const delegate = createSubAgentTool({
    agent: payer,
    inputSchema: z.object({}),
    toMessage: () => 'Pay.',
  });
  const agents = new AgentRegistry([
    defineAgent({
      ...BASE,
      name: 'other',
      tools: [tool('book', 'Book it'), tool('send_mail', 'Send a draft to yourself')],
    }),
    defineAgent({
      ...BASE,
      name: 'help-desk',
      page: { title: 'Support' },
      tools: [tool('lookupOrder', 'Look up an order'), tool('send_mail'), delegate],
    }),
  ]);
  agents.registerFactory('made', () => {
    throw new Error('There is no person to make it for.');
  });
  expect(
    ['help-desk', 'other', 'made', 'goneAway'].map((name) => titleOfAgent(agents, name)),
  ).toEqual(['Support', 'Other', 'Made', 'Gone away']);
  expect(titleOfTool(agents, 'help-desk', 'lookupOrder')).toBe('Look up an order');
  expect(titleOfTool(agents, 'help-desk', 'send_mail')).toBe('Send mail');
  // Sub-agents ask in the name of the conversation's agent.
  expect(titleOfTool(agents, 'help-desk', 'pay')).toBe('Pay an invoice');
  // A tool of the same name at an unrelated agent does not count.
  for (const name of ['help-desk', 'made', 'goneAway']) {
    expect(titleOfTool(agents, name, 'book')).toBe('Book');
  }
});
