import { APICallError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { fakeModel, parts } from './fake-model.js';

interface Wish {
  calls?: { tool: string; id: string }[];
  hang?: boolean;
  fail?: boolean;
}

export interface TestAgent {
  agent: AgentDefinition;
  executed: string[];
}

/**
 * Creates an agent that a message directs: `{calls}` makes calls in its first step and then says
 * `done`; `{hang}` streams forever, after the calls if there are some; `{fail}` fails for good; any other text is repeated.
 */
export function createTestAgent(name = 'tester', activities?: RunShape): TestAgent {
  const executed: string[] = [];
  const tool = (toolName: string, extra: object): ReturnType<typeof defineTool> =>
    defineTool({
      name: toolName,
      description: toolName,
      inputSchema: z.object({}),
      execute: (_, { toolCallId }) => {
        executed.push(toolCallId);
        return { done: toolCallId };
      },
      ...extra,
    });
  const model = fakeModel((_, { prompt, abortSignal }) => {
    const at = prompt.findLastIndex(({ role }) => role === 'user');
    const content = prompt[at]?.content;
    const first = Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '';
    const wish = (first.startsWith('{') ? JSON.parse(first) : {}) as Wish;
    if (wish.fail === true) return Promise.reject(refused());
    const hasCalled = prompt.length > at + 1;
    if (wish.hang === true && (wish.calls === undefined || hasCalled)) return speakOn(abortSignal);
    if (wish.calls === undefined) return [...parts.text(`You said ${first}`), ...parts.finish()];
    if (hasCalled) return [...parts.text('done'), ...parts.finish()];
    const calls = wish.calls.flatMap(({ tool: of, id }) => parts.call(id, of, {}));
    return [...calls, ...parts.finish('tool-calls')];
  });
  const agent = defineAgent({
    name,
    systemPrompt: '',
    activities,
    tools: [tool('echo', {}), tool('charge', { requireApproval: true })],
    llmConfig: { model },
  });
  return { agent, executed };
}

function refused(): APICallError {
  return new APICallError({
    message: 'no',
    url: 'http://model',
    requestBodyValues: {},
    statusCode: 401,
  });
}

async function* speakOn(
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'And' };
  await new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
}
