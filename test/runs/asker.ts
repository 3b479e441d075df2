import { z } from 'zod';
import type { AgentDefinition } from '../../agents/index.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Calls the tools that the message names in its first step, then repeats the last result. */
const model = fakeModel((_, { prompt }) => {
  const at = prompt.findLastIndex(
    ({ role, providerOptions }) => role === 'user' && providerOptions === undefined,
  );
  const content = prompt[at]?.content;
  const text = Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '';
  if (prompt.length > at + 1 || !text.startsWith('[')) {
    return parts.says(JSON.stringify(prompt.at(-1)));
  }
  const calls = JSON.parse(text) as [tool: string, id: string, input?: object][];
  return parts.asks(calls.flatMap(([tool, id, input = {}]) => parts.call(id, tool, input)));
});

/** The page answers `locate` and `hurry` (300 ms); people approve `charge`. */
export function createAsker(): AgentDefinition {
  return fakeAgent('asker', model, {
    tools: [
      fakeTool('locate', 'client', { outputSchema: z.object({ city: z.string() }) }),
      fakeTool('hurry', 'client', { deadlineMs: 300 }),
      fakeTool('charge', (input) => input, {
        inputSchema: z.object({ amount: z.number() }),
        requireApproval: true,
      }),
    ],
  });
}
