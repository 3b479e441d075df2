import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { WorkMiddleware } from '../../../activities/extension.js';
import { traceRuns } from '../../../extensions/observe/trace-runs.js';
import type { FinishedSpan, Tracer } from '../../../protocol/telemetry.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { rateLimited } from '../../activities/hanging-model.js';
import { createHarness } from '../../support/activity-harness.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { fakeTool } from '../../support/fake-tool.js';
import type { TestStores } from '../../support/test-stores.js';

const SLOW_MS = 5_000;

/** Copies each request, as middleware may. */
const COPIES: WorkMiddleware = {
  run: (_run, work) => work(),
  request: () => (request, next) => next({ ...request }),
  tool: () => undefined,
};

it('a run writes a span for each request to a model and each execution of a tool, as it went', async () => {
  const spans: FinishedSpan[] = [];
  const tracer = {
    write: (span: FinishedSpan) => void spans.push(span),
    within: (_span: unknown, work: () => unknown) => work(),
  } as Tracer;
  const now = performance.now.bind(performance);
  let ahead = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
  const slow = fakeTool('slow', () => {
    ahead += SLOW_MS;
    throw new Error('out of paper');
  });
  const reported: LanguageModelV4StreamPart = { type: 'response-metadata', id: 'r1', modelId: 'x' };
  const model = fakeModel((n) => {
    if (n === 0) return Promise.reject(rateLimited());
    return n === 1 ? [reported, ...parts.asks(parts.call('c1', 'slow', {}))] : parts.says('Done.');
  });
  const harness = createHarness(createMemoryStores() as unknown as TestStores, {
    model,
    tools: [slow],
    extensions: [traceRuns(tracer), { work: () => COPIES }],
  });
  await harness.play(await harness.begin());
  const chat = `chat ${model.modelId}`;
  const used = { 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 2 };
  expect(spans.filter(({ title }) => !title.startsWith('invoke_agent'))).toMatchObject([
    { title: chat, error: 'provider_rate_limited' },
    {
      title: chat,
      error: undefined,
      attributes: {
        ...used,
        'gen_ai.response.id': 'r1',
        'gen_ai.response.model': 'x',
        'gen_ai.response.finish_reasons': ['tool-calls'],
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
      },
    },
    { title: 'execute_tool slow', error: 'tool_execution_failed' },
    { title: chat, attributes: { ...used, 'gen_ai.response.finish_reasons': ['stop'] } },
  ]);
  const [execution] = spans.filter(({ title }) => title.startsWith('execute_tool'));
  expect((execution?.endMs ?? 0) - (execution?.startMs ?? 0)).toBeGreaterThanOrEqual(SLOW_MS);
});
