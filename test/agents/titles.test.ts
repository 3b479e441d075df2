import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { AgentRegistry, defineAgent, defineTool } from '../../agents/index.js';
import { titleOfAgent, titleOfTool } from '../../agents/titles.js';

const BASE = { systemPrompt: '', llmConfig: { model: 'scripted' } };

const tool = (name: string, title?: string) =>
  defineTool({
    ...{ name, description: 'Does it.', inputSchema: z.object({}), execute: () => ({}) },
    ...(title !== undefined && { title }),
  });

it('agents and tools are named by their titles, and where there are none by their names in words', () => {
  const agents = new AgentRegistry([
    defineAgent({
      ...{ ...BASE, name: 'help-desk', page: { title: 'Support' } },
      tools: [tool('lookupOrder', 'Look up an order'), tool('send_mail')],
    }),
    defineAgent({ ...BASE, name: 'other', tools: [tool('book', 'Book it')] }),
  ]);
  agents.registerFactory('made', () => {
    throw new Error('There is no person to make it for.');
  });
  expect(
    ['help-desk', 'other', 'made', 'goneAway'].map((name) => titleOfAgent(agents, name)),
  ).toEqual(['Support', 'Other', 'Made', 'Gone away']);
  expect(titleOfTool(agents, 'help-desk', 'lookupOrder')).toBe('Look up an order');
  expect(titleOfTool(agents, 'help-desk', 'send_mail')).toBe('Send mail');
  // A sub-agent asks in the name of the conversation's agent.
  expect(titleOfTool(agents, 'made', 'book')).toBe('Book it');
});
