import { defineAgent } from '../../../agents/index.js';
import { createInProcessExecutor } from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { fakeModel, parts } from '../../support/fake-model.js';

it('files of listed hosts are fetched as by the worker: one that is refused is named to the model', async () => {
  const script = () => parts.says('seen');
  // The model's provider fetches no URLs.
  const model = Object.defineProperty(fakeModel(script), 'supportedUrls', { value: {} });
  const agent = defineAgent({ name: 'guide', systemPrompt: 'Be brief.', llmConfig: { model } });
  const executor = createInProcessExecutor({
    agents: [agent],
    stores: createMemoryStores(),
    fileHosts: ['127.0.0.1'],
  });
  try {
    const file = {
      type: 'file',
      url: 'https://127.0.0.1/plan.png',
      mediaType: 'image/png',
    } as const;
    const handle = await executor.execute(agent, [{ role: 'user', parts: [file] }]);
    expect(await handle.result()).toMatchObject({ status: 'completed' });
    const sent = JSON.stringify(model.doStreamCalls[0]?.prompt);
    expect(sent).not.toContain('"type":"file"');
    expect(sent).toContain('cannot be fetched');
  } finally {
    await executor.close();
  }
});
