import { createSearcher } from '../../examples/models/agent.js';
import { createTestRuntime } from '../../testing/index.js';
import { apiError, fakeModel, parts, sayInTurn } from '../support/fake-model.js';

it('the example answers by its second model, with a search of the provider, and counts', async () => {
  const refusing = fakeModel(() => Promise.reject(apiError(401)));
  const call = { toolCallId: 'w1', toolName: 'web_search' };
  const searching = fakeModel(
    sayInTurn([
      { type: 'tool-call', ...call, input: '{}', providerExecuted: true },
      { type: 'tool-result', ...call, result: { action: { type: 'search', query: 'rain' } } },
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example' },
      ...parts.text('It rains.'),
      ...parts.finish(),
    ]),
  );
  const counted: number[] = [];
  const agent = createSearcher(refusing, searching, (_runId, tokens) => counted.push(tokens));
  const runtime = await createTestRuntime({ agents: [agent] });
  const done = (await runtime.run('searcher', 'How is the weather?')).expectText('It rains.');
  await done.current();
  expect(searching.doStreamCalls[0]?.tools).toMatchObject([{ id: 'openai.web_search' }]);
  expect([refusing.doStreamCalls.length, counted]).toEqual([1, [5]]);
  await runtime.close();
});
