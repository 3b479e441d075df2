/* oxlint-disable typescript/no-deprecated -- Tools that exist have these forms. */
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { tool } from 'ai';
import { z } from 'zod';
import { toolContextOf } from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { useRuns } from '../support/run-harness.js';
import { fakeAgent } from '../support/fake-agent.js';

const keys: string[] = [];
const asked: LanguageModelV4CallOptions[] = [];

/** Tools that take a picture, refund (above a limit with consent) and ask the browser. */
const tools = {
  picture: tool({
    description: 'Takes a picture.',
    inputSchema: z.object({ of: z.string() }),
    providerOptions: { fake: { cache: true } },
    async *execute({ of }) {
      yield { of, png: '' };
      await Promise.resolve();
      yield { of, png: 'AAAA' };
    },
    toModelOutput: ({ toolCallId, input, output }) => ({
      type: 'content',
      value: [
        { type: 'text', text: `${toolCallId}: ${input.of}` },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: output.png } },
      ],
    }),
  }),
  refund: tool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => amount > 10,
    execute: ({ amount }, options) => {
      keys.push(toolContextOf(options).idempotencyKey);
      return { refunded: amount };
    },
  }),
};

/** Calls the tools that the message lists, then says `done`. */
const model = fakeModel((_, options) => {
  asked.push(options);
  const at = options.prompt.findLastIndex(({ role }) => role === 'user');
  if (options.prompt.length > at + 1) return parts.says('done');
  const calls = JSON.parse(textOf(options.prompt, at)) as {
    id: string;
    tool: string;
    input: object;
  }[];
  return parts.asks(calls.flatMap(({ id, tool: name, input }) => parts.call(id, name, input)));
});

function textOf(prompt: LanguageModelV4Prompt, at: number): string {
  const content = prompt[at]?.content;
  return Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '[]';
}

const agentOf = (activities?: RunShape) => fakeAgent('camera', model, { activities, tools });

describe.each([
  ['default', undefined],
  ['leg', 'leg'],
] as const)('in the shape %s', (_, shape) => {
  const { runs } = useRuns([agentOf(shape)]);

  it('tools of the AI SDK run durably, and the model gets the picture that toModelOutput makes', async () => {
    const run = await runs.begin(
      runs.newSessionId(),
      'camera',
      JSON.stringify([
        { id: 'p1', tool: 'picture', input: { of: 'Rome' } },
        { id: 'r1', tool: 'refund', input: { amount: 5 } },
      ]),
    );
    expect(await runs.result(run)).toMatchObject({ status: 'completed', steps: 2 });
    const results = asked.at(-1)?.prompt.find(({ role }) => role === 'tool')?.content;
    expect(results).toMatchObject([
      {
        toolCallId: 'p1',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'p1: Rome' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
          ],
        },
      },
      { toolCallId: 'r1', output: { type: 'json', value: { refunded: 5 } } },
    ]);
    expect(asked.at(-1)?.tools?.[0]).toMatchObject({ providerOptions: { fake: { cache: true } } });
    expect(keys.at(-1)).toBe(`${run.runId}/r1`);
  });

  it('needsApproval pauses the run until a person agrees, and then the tool runs', async () => {
    const run = await runs.begin(
      runs.newSessionId(),
      'camera',
      JSON.stringify([{ id: 'r2', tool: 'refund', input: { amount: 50 } }]),
    );
    await runs.untilStatus(run.sessionId, 'waiting_approval');
    expect(keys).not.toContain(`${run.runId}/r2`);
    expect(await runs.decide(run, 'r2', true)).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(keys.at(-1)).toBe(`${run.runId}/r2`);
  });
});
