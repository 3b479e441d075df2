import { z } from 'zod';
import type { ToolContext } from '../../agents/index.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { apiError, parts, sayInTurn, type Script } from '../support/fake-model.js';

type Execute = (context: ToolContext) => unknown;

const nested = (depth: number): unknown =>
  JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
const DEEP = nested(LIMITS.jsonDepth);
const TOO_DEEP = nested(LIMITS.jsonDepth + 1);

const State = z.object({ kept: z.unknown().optional() });

/** A run whose only tool was carried out, and the step behind it. */
async function play(execute: Execute) {
  const tool = fakeTool('tool', (_, context) => execute(context));
  const script = sayInTurn(parts.asks(parts.call('c', 'tool', {})), parts.says('done'));
  const harness = await openHarness(script, { tools: [tool], more: { stateSchema: State } });
  const run = await harness.begin();
  expect(await harness.play(run)).toMatchObject({ status: 'completed' });
  const rows = await harness.rows(0);
  const row = rows.find(({ role }) => role === 'tool');
  const { customState } = await harness.stores.store.documents.readState(harness.session.id);
  return { ...harness, row, customState };
}

/** The error that a tool got in place of an effect. */
async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'none';
}

describe('a tool', () => {
  it.each<[string, unknown, object]>([
    ['as deep as may be', DEEP, { output: DEEP }],
    ['one level deeper', TOO_DEEP, { errorCode: 'tool_result_too_deep' }],
    ['far too deep for the engine', nested(200_000), { errorCode: 'tool_result_too_deep' }],
  ])(
    'whose result is %s: the model gets an error, and the run continues',
    async (_what, result, row) => {
      const played = await play(() => result);
      expect(played.row).toMatchObject(row);
    },
  );

  it('a tool that emits a value that is too deep, or no JSON, gets an error that only it sees', async () => {
    const circle: unknown[] = [];
    circle.push(circle);
    const { row, session } = await play(async ({ emit }) => {
      const refused = [TOO_DEEP, nested(200_000), circle, { n: 1n }];
      const codes = await Promise.all(refused.map((data) => refusalOf(() => emit('e', data))));
      await emit('e', DEEP);
      return codes;
    });
    expect(row).toMatchObject({ output: Array(4).fill('invalid_chunk') });
    expect(await session.messages('custom')).toMatchObject([{ data: DEEP }]);
    expect((row as { events?: unknown[] }).events).toHaveLength(1);
  });

  it('a tool that makes the state too deep, or no JSON, changes nothing', async () => {
    const { row, customState, session } = await play(async ({ updateState }) => {
      const keep = (value: unknown): Promise<string> =>
        refusalOf(() => {
          updateState<{ kept: unknown }>((draft) => {
            draft.kept = value;
          });
        });
      return [
        await keep(nested(LIMITS.jsonDepth - 1)),
        await keep(DEEP),
        await keep({ n: 1n }),
        await keep('x'.repeat(LIMITS.chunkBytes)),
      ];
    });
    expect(row).toMatchObject({
      output: ['none', 'state_invalid', 'state_invalid', 'chunk_too_large'],
    });
    expect(customState).toEqual({ kept: nested(LIMITS.jsonDepth - 1) });
    expect(await session.messages('state_patch')).toHaveLength(1);
  });

  it('a tool that forwards an agent’s chunks cannot forward what only the store may write', async () => {
    const base = { agentId: 'elsewhere', agentType: 'a', step: 1, timestamp: 1 };
    const chunks: StreamChunk[] = [
      { type: 'state_patch', ...base, patches: [], undo: '}' },
      { type: 'tool_end', ...base, toolCallId: 'x', toolName: 't', result: 1, resultRef: 'c' },
    ];
    const { session } = await play(({ forward }) => forward(chunks));
    const messages = (await session.log()).map(({ message }) => message);
    const shown = messages.filter(
      (message) => 'agentId' in message && message.agentId === 'elsewhere',
    );
    expect(shown).toEqual([
      { type: 'state_patch', ...base, patches: [] },
      { type: 'tool_end', ...base, toolCallId: 'x', toolName: 't', result: 1 },
    ]);
  });
});

describe('a model', () => {
  it('a model that fails within endlessly nested arguments fails the run by its own error', async () => {
    const stream = parts.args('c', 'tool', '['.repeat(50_000) + ']'.repeat(50_000));
    const error = apiError(400, { isRetryable: false });
    const { begin, step, rows } = await openHarness(() => [...stream, { type: 'error', error }]);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'failed' });
    expect(await rows(1)).toMatchObject([
      { interrupted: 'failure', parts: [{ type: 'tool-call', input: {} }] },
      { role: 'tool', toolCallId: 'c' },
    ]);
  });

  it('whose metadata cannot be stored loses that, and nothing else', async () => {
    const metadata = (value: unknown) => ({ model: { value } }) as never;
    const fits = nested(LIMITS.jsonDepth - 2);
    const { begin, step, rows } = await openHarness(
      sayInTurn([
        { type: 'text-start', id: 't', providerMetadata: metadata(fits) },
        { type: 'text-delta', id: 't', delta: 'well', providerMetadata: metadata(DEEP) },
        { type: 'text-end', id: 't', providerMetadata: metadata(1n) },
        ...parts.finish(),
      ]),
    );
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await rows(1)).toEqual([
      expect.objectContaining({
        parts: [{ type: 'text', text: 'well', providerMetadata: { model: { value: fits } } }],
      }),
    ]);
  });

  it('a model that submits a result that its schema makes too deep gets an error', async () => {
    const outputSchema = z.object({ n: z.number() }).transform(({ n }) => nested(n));
    const script: Script = (n) =>
      parts.asks(parts.call(`f${String(n)}`, '__finish__', { n: n === 0 ? 501 : 500 }));
    const harness = await openHarness(script, { more: { outputSchema } });
    await harness.play(await harness.begin());
    expect(JSON.stringify(harness.model.doStreamCalls[1]?.prompt.at(-1))).toContain(
      'nested too deeply',
    );
    expect(await harness.record()).toMatchObject({ output: DEEP });
  });
});
