import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { createSubAgentTool, defineAgent, type AgentDefinition } from '../../../agents/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { fakeModel, parts, type Script } from '../../support/fake-model.js';

const SIZE = 300 * 1024;
const executors: InProcessExecutor[] = [];
afterAll(() => Promise.all(executors.map((each) => each.close())));

/** Larger than a chunk, so it is stored. */
const image = (fill: string): LanguageModelV4StreamPart => ({
  type: 'file',
  mediaType: 'image/png',
  data: { type: 'data', data: Buffer.alloc(SIZE, fill).toString('base64') },
});

/** Calls `tool` first, under the same id each time, and then replies with what follows. */
function asking(tool: string, file?: () => string): Script {
  return (_n, { prompt }) => {
    const isAnswered = prompt.at(-1)?.role === 'tool';
    if (!isAnswered) return [...parts.call('d1', tool, {}), ...parts.finish('tool-calls')];
    const made = file === undefined ? [] : [image(file())];
    return [...made, ...parts.text('Here.'), ...parts.finish()];
  };
}

function define(name: string, script: Script, agent?: AgentDefinition): AgentDefinition {
  const toMessage = () => 'Paint.';
  const about = { description: 'Paints.', inputSchema: z.object({}), toMessage };
  const tools = agent ? [createSubAgentTool({ name: 'paint', agent, ...about })] : [];
  return defineAgent({ name, systemPrompt: '', tools, llmConfig: { model: fakeModel(script) } });
}

/** The first byte of each file of the conversation. */
async function firstsOf({ store: { files } }: InProcessOptions['stores'], sessionId: string) {
  const listed = (await files?.list(sessionId)) ?? [];
  const range = { from: 0, to: 1 };
  const firsts = listed.map(async ({ id }) => {
    const first = await files?.content(sessionId, id, range);
    return Buffer.from(first ?? '').toString();
  });
  return (await Promise.all(firsts)).sort();
}

describe('files that sub-agents make', () => {
  it('are removed with the reply that called them, at every depth', async () => {
    const stores = createMemoryStores();
    const fills = ['a', 'b', 'c', 'd', 'e', 'f'];
    const next = () => fills.shift() ?? 'z';
    const painter = define('painter', () => [image(next()), ...parts.text('.'), ...parts.finish()]);
    const studio = define('studio', asking('paint', next), painter);
    const boss = define('boss', asking('paint'), studio);
    const executor = createInProcessExecutor({ agents: [boss], stores, quotas: 'unlimited' });
    executors.push(executor);

    const first = await executor.execute('boss', 'one');
    expect(await first.result()).toMatchObject({ status: 'completed' });
    const { sessionId } = first;
    const second = await executor.execute('boss', 'two', { sessionId });
    expect(await second.result()).toMatchObject({ status: 'completed' });
    expect(await firstsOf(stores, sessionId)).toEqual(['a', 'b', 'c', 'd']);
    const again = await executor.retry({ sessionId });
    expect(await again.result()).toMatchObject({ status: 'completed' });
    expect(await firstsOf(stores, sessionId)).toEqual(['a', 'b', 'e', 'f']);
  });
});
