import { z } from 'zod';
import { createAnswerCheck } from '../../agents/check-answer.js';
import { createScriptedModel, defineAgent, defineTool } from '../../agents/index.js';

const circle: unknown[] = [];
circle.push(circle);
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('the answer to a call', () => {
  it('an answer is refused if its schema turns it into something that cannot be stored', async () => {
    const made = new Map<string, unknown>([
      ['cycle', circle],
      ['bigint', 1n],
      ['deep', nested(501)],
      ['function', () => 1],
    ]);
    const tool = defineTool({
      name: 'locate',
      description: 'Asks the page.',
      inputSchema: z.object({}),
      outputSchema: z.string().transform((name) => made.get(name) ?? nested(500)),
      execute: 'client',
    });
    const agent = defineAgent({
      name: 'a',
      systemPrompt: '',
      tools: [tool],
      llmConfig: { model: createScriptedModel() },
    });
    const check = createAnswerCheck({ get: () => agent });
    const answer = (result: string) =>
      check(
        { agent: 'a' },
        { toolName: tool.name },
        {
          kind: 'client-tool-result',
          sessionId: 's',
          toolCallId: 'c',
          result,
        },
      );
    for (const name of made.keys()) {
      await expect(answer(name)).rejects.toMatchObject({ code: 'invalid_result' });
    }
    expect(await answer('fine')).toMatchObject({ result: nested(500) });
  });

  it('an edited input is refused if it is no object, or has a key that pages do not show', async () => {
    const tool = defineTool({
      name: 'send',
      description: 'Sends.',
      inputSchema: z.looseObject({}),
      requireApproval: true,
      execute: () => 'sent',
    });
    const llmConfig = { model: createScriptedModel() };
    const agent = defineAgent({ name: 'a', systemPrompt: '', tools: [tool], llmConfig });
    // A dynamic tool of the AI SDK may have a schema that takes any value.
    const dynamic = { ...agent, tools: [{ ...tool, inputSchema: z.any() }] };
    const check = createAnswerCheck({ get: () => dynamic });
    const edit = (input: string, approved = true) =>
      check(
        { agent: 'a' },
        { toolName: 'send' },
        {
          kind: 'approval-response',
          sessionId: 's',
          toolCallId: 'c',
          approved,
          input: JSON.parse(input) as unknown,
        },
      );
    for (const wrong of ['{"to":{"__proto__":1}}', 'null', '[]', '"all"'])
      await expect(edit(wrong)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await edit('{"to":1}')).toMatchObject({ input: { to: 1 } });
    // Nothing is executed with the input of a denial, so it may be any.
    expect(await edit('null', false)).toMatchObject({ approved: false });
  });
});
