import { MockLanguageModelV4 } from 'ai/test';
import { createLongConversationAgent } from '../../examples/long-conversation/agent.js';
import { createInProcessExecutor } from '../../extensions/one-process/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { fakeModel, parts } from '../support/fake-model.js';

it('the example has a summary written once, and answers with it from then on', async () => {
  const model = fakeModel(() => parts.says('word '.repeat(40)));
  const count = { total: 50, noCache: 50, cacheRead: undefined, cacheWrite: undefined };
  const summaryModel = new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: 'text', text: 'They greet each other.' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage: { inputTokens: count, outputTokens: { total: 5, text: 5, reasoning: undefined } },
      warnings: [],
    },
  });
  const agent = createLongConversationAgent(model, summaryModel, 300);
  const executor = createInProcessExecutor({ agents: [agent], stores: createMemoryStores() });
  const usages: unknown[] = [];
  let sessionId: string | undefined;
  for (let turn = 0; turn < 7; turn += 1) {
    const handle = await executor.execute(
      'long-conversation',
      `hello ${String(turn)}`,
      sessionId === undefined ? {} : { sessionId },
    );
    ({ sessionId } = handle);
    const result = await handle.result();
    usages.push(result.usage);
  }
  await executor.close();
  expect(summaryModel.doGenerateCalls).toHaveLength(1);
  const prompts = model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt));
  const first = prompts.findIndex((prompt) => prompt.includes('They greet each other.'));
  expect(first).toBeGreaterThan(2);
  expect(prompts.slice(first).every((prompt) => prompt.includes('They greet each other.'))).toBe(
    true,
  );
  expect(prompts.at(-1)).not.toContain('hello 0');
  expect(usages[first]).toMatchObject({ inputTokens: 53, outputTokens: 7 });
  expect(usages[first + 1]).toMatchObject({ inputTokens: 3, outputTokens: 2 });
});
