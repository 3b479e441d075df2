import { tool } from 'ai';
import { z } from 'zod';
import { fromAgent, type AgentSettings, type AiSdkAgent } from '../../agents/index.js';
import { createHarness, type ActivityHarness } from '../support/activity-harness.js';
import { parts } from '../support/fake-model.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const { call, says, asks } = parts;
const echo = tool({
  description: 'Says it again.',
  inputSchema: z.object({ value: z.string() }),
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  execute: ({ value }) => ({ value }),
});
const other = tool({ description: 'Another one.', inputSchema: z.object({}), execute: () => 1 });
const third = tool({ description: 'A third one.', inputSchema: z.object({}), execute: () => 3 });
export const tools = { echo, other, third };

/** Three steps with calls, and a last one. */
export const REPLIES = [
  asks(call('c1', 'echo', { value: 'a' })),
  asks(call('c2', 'echo', { value: 'b' }), call('c3', 'other', {})),
  asks(call('c4', 'echo', { value: 'c' })),
  says('Done.'),
];

/** What suites are called in either shape of a run, and the setting. */
export const SHAPES: [suffix: string, shape: Pick<AgentSettings, 'activities'>][] = [
  ['', {}],
  [', in legs', { activities: 'leg' }],
];

/** The runtime with an agent of the AI SDK. */
export async function serve(
  agent: AiSdkAgent,
  more: AgentSettings = {},
  stores?: TestStores,
): Promise<ActivityHarness> {
  const {
    name: _name,
    tools: own,
    llmConfig,
    systemPrompt,
    ...rest
  } = fromAgent(agent, {
    name: 'of-ai-sdk',
    ...more,
  });
  return createHarness(stores ?? (await openTestStores()), {
    model: llmConfig.model,
    tools: own,
    more: { ...rest, systemPrompt, llmConfig },
  });
}
