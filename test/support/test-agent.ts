import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AgentDefinition } from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { apiError, fakeModel, parts } from './fake-model.js';
import { fakeAgent } from './fake-agent.js';
import { fakeTool } from './fake-tool.js';

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
  const tool = (toolName: string, requireApproval?: true) =>
    fakeTool(
      toolName,
      (_, { toolCallId }) => {
        executed.push(toolCallId);
        return { done: toolCallId };
      },
      { requireApproval },
    );
  const model = fakeModel((_, { prompt, abortSignal }) => {
    const at = prompt.findLastIndex(({ role }) => role === 'user');
    const content = prompt[at]?.content;
    const first = Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '';
    const wish = (first.startsWith('{') ? JSON.parse(first) : {}) as Wish;
    if (wish.fail === true) return Promise.reject(apiError(401));
    const hasCalled = prompt.length > at + 1;
    if (wish.hang === true && (wish.calls === undefined || hasCalled)) return speakOn(abortSignal);
    if (wish.calls === undefined) return parts.says(`You said ${first}`);
    if (hasCalled) return parts.says('done');
    const calls = wish.calls.flatMap(({ tool: of, id }) => parts.call(id, of, {}));
    return parts.asks(calls);
  });
  const agent = fakeAgent(name, model, {
    activities,
    tools: [tool('echo'), tool('charge', true)],
  });
  return { agent, executed };
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
