import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import { fakeModel, parts } from '../support/fake-model.js';

/** Calls the tools that the message names in its first step, then repeats the last result. */
const model = fakeModel((_, { prompt }) => {
  const at = prompt.findLastIndex(
    ({ role, providerOptions }) => role === 'user' && providerOptions === undefined,
  );
  const content = prompt[at]?.content;
  const text = Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '';
  if (prompt.length > at + 1 || !text.startsWith('[')) {
    return [...parts.text(JSON.stringify(prompt.at(-1))), ...parts.finish()];
  }
  const calls = JSON.parse(text) as [tool: string, id: string, input?: object][];
  return [
    ...calls.flatMap(([tool, id, input = {}]) => parts.call(id, tool, input)),
    ...parts.finish('tool-calls'),
  ];
});

/** The page answers `locate` and `hurry` (300 ms); people approve `charge`. */
export function createAsker(): AgentDefinition {
  return defineAgent({
    name: 'asker',
    systemPrompt: '',
    tools: [
      defineTool({
        name: 'locate',
        description: 'locate',
        inputSchema: z.object({}),
        outputSchema: z.object({ city: z.string() }),
        execute: 'client',
      }),
      defineTool({
        name: 'hurry',
        description: 'hurry',
        inputSchema: z.object({}),
        execute: 'client',
        deadlineMs: 300,
      }),
      defineTool({
        name: 'charge',
        description: 'charge',
        inputSchema: z.object({ amount: z.number() }),
        requireApproval: true,
        execute: (input) => input,
      }),
    ],
    llmConfig: { model },
  });
}
