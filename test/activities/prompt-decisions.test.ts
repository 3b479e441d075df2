import { streamText, tool } from 'ai';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { toPrompt } from '../../activities/model/prompt.js';
import type { ToolRow } from '../../protocol/rows.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';
import { ask, plain } from './compare-prompts.js';

const { text, call, says, asks } = parts;

describe('what a model is asked is what streamText would ask', () => {
  it("the prompt equals streamText's after an approval that was denied", async () => {
    const denial = { approved: false, reason: 'too much' } as const;
    const reply = asks(text('May I?'), call('c1', 'ask', {}));
    const asking = { description: 'Asks.', inputSchema: z.object({}) };
    const theirs = fakeModel(sayInTurn(says('pity')));
    await streamText({
      model: theirs,
      instructions: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'May I?' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'ask', input: {} },
            { type: 'tool-approval-request', approvalId: 'ap', toolCallId: 'c1' },
          ],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: 'ap', ...denial }],
        },
      ],
      tools: { ask: tool({ ...asking, execute: () => 1 }) },
    }).consumeStream();

    const stores = await openTestStores();
    const ours = fakeModel(sayInTurn(reply, says('pity')));
    const tools = [defineTool({ ...asking, name: 'ask', requireApproval: true, execute: () => 1 })];
    const harness = createHarness(stores, { model: ours, tools });
    const run = await harness.begin();
    await harness.play(run);
    const decision = { ...denial, at: 1 };
    await stores.store.calls.settle({
      source: 'approval',
      sessionId: harness.session.id,
      agentType: 'tester',
      toolCallId: 'c1',
      runId: run.runId,
      decision,
      permitted: true,
      row: { role: 'tool', toolCallId: 'c1', toolName: 'ask', denied: true, decision },
      chunks: [],
      now: 1,
    });
    await harness.play(run, 2);
    expect(plain(ours.doStreamCalls[1]?.prompt)).toEqual(plain(theirs.doStreamCalls[0]?.prompt));
  });
});

describe('what a model gets differently on purpose', () => {
  it('calls keep the input as the model wrote it, also what the schema would strip', async () => {
    const { ours } = await ask([asks(call('c1', 'echo', { value: 'a', unknown: 1 }))]);
    expect(ours[1]?.prompt[2]).toMatchObject({ content: [{ input: { value: 'a', unknown: 1 } }] });
  });

  it('results tell what a person changed in the input, and who it was', () => {
    const outputOf = (row: Partial<ToolRow>): unknown => {
      const base = { role: 'tool', toolCallId: 'c1', toolName: 'refund' } as const;
      const [message] = toPrompt('', [{ ...base, ...row }]);
      const part = message?.role === 'tool' ? message.content[0] : undefined;
      return part?.type === 'tool-result' ? part.output : undefined;
    };
    const decision = { approved: true, at: 1, by: 'ann', input: { amount: 5 } };
    const changed = 'Before it was approved, the input of this call was changed by';
    expect(outputOf({ output: { refunded: 5 }, decision })).toEqual({
      type: 'text',
      value: `${changed} ann to: {"amount":5}\nResult: {"refunded":5}`,
    });
    expect(outputOf({ output: 'ok', decision: { approved: true, at: 1, input: {} } })).toEqual({
      type: 'text',
      value: `${changed} a person to: {}\nResult: ok`,
    });
    expect(outputOf({ error: 'no funds', decision })).toEqual({
      type: 'error-text',
      value: `${changed} ann to: {"amount":5}\nIt failed: no funds`,
    });
    const { input, ...unchanged } = decision;
    expect(outputOf({ output: input, decision: unchanged })).toEqual({
      type: 'json',
      value: input,
    });
  });
});
