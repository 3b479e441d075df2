import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

const { call, finish } = parts;

describe('what a model asks for', () => {
  it('goes to the run by name and kind; what cannot be called is settled', async () => {
    const stores = await openTestStores();
    const make = (name: string, extra: object): ReturnType<typeof defineTool> =>
      defineTool({
        name,
        description: name,
        inputSchema: z.object({ n: z.number().optional() }),
        execute: () => 1,
        ...extra,
      });
    const tools = [
      make('server', { timeoutMs: 7 }),
      make('client', { execute: 'client' }),
      make('approval', { requireApproval: true }),
      make('rule', { requireApproval: ({ n }: { n?: number }) => n === 1 }),
      make('broken', {
        requireApproval: () => {
          throw new Error('no idea');
        },
      }),
      make('strict', {
        inputSchema: z.object({}).refine(() => {
          throw new Error('schema bug');
        }),
      }),
    ];
    const model = fakeModel(
      sayInTurn([
        ...call('c1', 'server', {}),
        ...call('c2', 'client', {}),
        ...call('c3', 'approval', {}),
        ...call('c4', 'rule', { n: 1 }),
        ...call('c5', 'rule', { n: 2 }),
        ...call('c6', 'nobody', {}),
        ...call('c7', 'server', { n: 'x' }),
        ...call('c8', 'server', '{"n":'),
        ...call('c9', 'broken', {}),
        ...call('c10', 'strict', {}),
        ...finish('tool-calls'),
      ]),
    );
    const { session, begin, step } = createHarness(stores, { model, tools });
    const outcome = await step(await begin(), 1);
    expect(outcome).toMatchObject({ kind: 'calls' });
    const kinds = outcome.kind === 'calls' ? outcome.calls.map((c) => [c.toolCallId, c.kind]) : [];
    expect(kinds).toEqual([
      ['c1', 'server'],
      ['c2', 'client'],
      ['c3', 'approval'],
      ['c4', 'approval'],
      ['c5', 'server'],
      ['c9', 'approval'],
    ]);
    const errors = (await session.messages('tool_input_error')).map(({ toolCallId, error }) => [
      toolCallId,
      error.split(':')[0],
    ]);
    expect(errors).toEqual([
      ['c6', 'There is no tool named "nobody".'],
      ['c7', 'Invalid input for "server"'],
      ['c8', 'Invalid input for "server"'],
      ['c10', 'Invalid input for "strict"'],
    ]);
    // What a person sees is written with the row, never before.
    expect(await session.messages('tool_approval_request')).toHaveLength(3);
  });
});
