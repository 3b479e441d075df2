import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { createRuleModel, type RuleTurn } from '../../index.js';

const user = (text: string): LanguageModelV4Prompt[number] => ({
  role: 'user',
  content: [{ type: 'text', text }],
});

it('a rule sees the newest turn with its results, and says and calls what it decides', async () => {
  const seen: RuleTurn[] = [];
  const model = createRuleModel((turn) => {
    seen.push(turn);
    return { say: 'Let me see.', calls: [{ tool: 'look', args: { order: '7' } }] };
  });
  const result = (toolCallId: string, output: object): object => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'look',
    output,
  });
  const prompt = [
    user('before'),
    user('Where is 7?'),
    {
      role: 'tool',
      content: [
        result('1', { type: 'json', value: { at: 'home' } }),
        result('2', { type: 'execution-denied', reason: 'not now' }),
        result('3', { type: 'error-text', value: 'no such order' }),
      ],
    },
  ] as LanguageModelV4Prompt;
  const { content, finishReason } = await model.doGenerate({ prompt });
  expect(seen).toEqual([
    {
      userText: 'Where is 7?',
      results: [
        { tool: 'look', outcome: 'done', output: { at: 'home' } },
        { tool: 'look', outcome: 'denied', output: 'not now' },
        { tool: 'look', outcome: 'failed', output: 'no such order' },
      ],
    },
  ]);
  expect(content).toEqual([
    { type: 'text', text: 'Let me see.' },
    expect.objectContaining({ type: 'tool-call', toolName: 'look', input: '{"order":"7"}' }),
  ]);
  expect(finishReason.unified).toBe('tool-calls');
});
