import { describe, expect, it } from '@jest/globals';
import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { resolveModel, type ToolContext } from '../../agents/index.js';
import { createSupportAgent } from '../../examples/index.js';
import { toWish } from '../../examples/support/request.js';
import { toSupportReply } from '../../examples/support/support-reply.js';
import { fromUser, readParts, toDeltas } from './streams.js';

type Output = LanguageModelV4ToolResultPart['output'];

const agent = createSupportAgent();

/** Runs a tool of the agent and gives its output as a model is told it. */
async function runTool(name: string, input: unknown): Promise<Output> {
  const tool = agent.tools.find((tool) => tool.name === name);
  if (typeof tool?.execute !== 'function') throw new Error(`no server tool ${name}`);
  const context = { idempotencyKey: 'key' } as ToolContext;
  try {
    const value: unknown = await tool.execute(tool.inputSchema.parse(input), context);
    return { type: 'json', value: tool.outputSchema?.parse(value) as never };
  } catch (error) {
    return { type: 'error-text', value: (error as Error).message };
  }
}

interface TurnResult {
  prompt: LanguageModelV4Prompt;
  text: string;
  calls: { name: string; input: unknown }[];
}

/** Plays a turn to its end; `approve` stands for the colleague who is asked about a refund. */
async function playTurn(
  history: LanguageModelV4Prompt,
  userText: string,
  approve = true,
): Promise<TurnResult> {
  const prompt = [...history, ...fromUser(userText)];
  const calls: TurnResult['calls'] = [];
  for (;;) {
    const reply = toSupportReply({ prompt });
    const text = reply.pieces.join('');
    prompt.push({ role: 'assistant', content: [{ type: 'text', text }] });
    const [call] = reply.calls;
    if (call === undefined) return { prompt, text, calls };
    const { tool: toolName, id: toolCallId } = call;
    const input: unknown = JSON.parse(call.input);
    calls.push({ name: toolName, input });
    const output: Output =
      toolName === 'refund' && !approve
        ? { type: 'execution-denied', reason: 'Too late.' }
        : await runTool(toolName, input);
    prompt.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
  }
}

function countWords(text: string): number {
  return text.split(/\s+/).length;
}

describe('the support agent without a key', () => {
  it('is a model that streams word by word, at a pace one can follow', async () => {
    const prompt = fromUser('Hello!');
    const start = performance.now();
    const words = toDeltas(await readParts(resolveModel(agent.llmConfig.model), { prompt }));
    expect(words).toEqual(toSupportReply({ prompt }).pieces);
    expect(performance.now() - start).toBeGreaterThan(words.length * 20);
  });

  it('says hello and what it can do', async () => {
    const { text, calls } = await playTurn([], 'Hello!');
    expect(calls).toEqual([]);
    expect(text).toContain('refund');
    expect(countWords(text)).toBeGreaterThanOrEqual(60);
  });

  it('looks an order up and answers at length', async () => {
    const { text, calls } = await playTurn([], 'Where is my order #1043?');
    expect(calls).toEqual([{ name: 'lookupOrder', input: { orderId: '1043' } }]);
    expect(text).toContain('in transit');
    expect(countWords(text)).toBeGreaterThanOrEqual(60);
  });

  it('admits that it does not know an order', async () => {
    expect((await playTurn([], 'order 9999 please')).text).toContain('9999');
  });

  it('asks for a refund after looking the order up, and tells how it went', async () => {
    const wish = 'I want a refund of $20 for order 1042, it arrived cracked';
    const approved = await playTurn([], wish);
    expect(approved.calls).toEqual([
      { name: 'lookupOrder', input: { orderId: '1042' } },
      { name: 'refund', input: { orderId: '1042', amount: 20, reason: wish } },
    ]);
    expect(approved.text).toContain('$20.00');
    expect(approved.text).toMatch(/R-[0-9A-F]{8}/);
    const denied = await playTurn([], wish, false);
    expect(denied.text).toContain('Too late.');
    for (const { text } of [approved, denied]) {
      expect(countWords(text)).toBeGreaterThanOrEqual(60);
    }
  });

  it('never asks for more than was paid', async () => {
    const { calls } = await playTurn([], 'refund me $500 for 1042');
    expect(calls[1]?.input).toMatchObject({ amount: 48.5 });
  });

  it('asks for the number, and takes it as the answer', async () => {
    const asked = await playTurn([], 'I want my money back');
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain('number');
    const { calls } = await playTurn(asked.prompt, 'it is 1042');
    expect(calls.map(({ name }) => name)).toEqual(['lookupOrder', 'refund']);
  });

  it('remembers which order was spoken of', async () => {
    const first = await playTurn([], 'What about 1042?');
    const { calls } = await playTurn(first.prompt, 'Then I would like a refund.');
    expect(calls[1]?.input).toMatchObject({ orderId: '1042', amount: 48.5 });
  });

  it('answers questions from the help centre, or says that it cannot', async () => {
    const found = await playTurn([], 'How long does shipping take?');
    expect(found.calls[0]?.name).toBe('searchArticles');
    expect(found.text).toContain('Delivery times');
    expect((await playTurn([], 'Who won the match?')).text).toContain('found nothing');
  });
});

describe('toWish', () => {
  it.each([
    ['hi there', { kind: 'greeting' }],
    ['', { kind: 'greeting' }],
    ['Thanks a lot', { kind: 'thanks' }],
    ['Where is my parcel?', { kind: 'order', orderId: undefined }],
    ['it cost $1299, why?', { kind: 'question' }],
    ['1299 dollars is too much', { kind: 'question' }],
    ['refund 12.50 euros for 1042.', { kind: 'refund', orderId: '1042', amount: 12.5 }],
    ['hi, how do returns work?', { kind: 'question' }],
  ])('reads %j', (text, wish) => {
    expect(toWish([text])).toEqual(wish);
  });
});
