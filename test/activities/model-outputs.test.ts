import { z } from 'zod';
import { toModelOutputs } from '../../activities/model/model-outputs.js';
import { toMessages } from '../../activities/model/prompt.js';
import { fromAiSdkTool, type AiSdkTool } from '../../agents/index.js';
import type { Row, ToolRow } from '../../protocol/rows.js';

type Word = NonNullable<AiSdkTool['toModelOutput']>;

const signal = new AbortController().signal;
const toolWith = (toModelOutput: Word) =>
  fromAiSdkTool('find', { inputSchema: z.object({}), execute: () => 1, toModelOutput });
const row = (more: object = {}): ToolRow => ({
  role: 'tool',
  toolCallId: 'c1',
  toolName: 'find',
  output: { secret: 'x', name: 'Ann' },
  ...more,
});
const call: Row = {
  role: 'assistant',
  messageId: 'msg-1',
  runId: 'r',
  step: 1,
  parts: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { of: 'ann' } }],
} as Row;

/** The result as the model gets it. */
async function worded(
  toModelOutput: Word,
  result: ToolRow = row(),
  scope: Parameters<typeof toModelOutputs>[3] = {},
): Promise<unknown> {
  const rows = [call, result];
  const outputs = await toModelOutputs([toolWith(toModelOutput)], rows, signal, scope);
  const content = toMessages(rows, outputs).messages.at(-1)?.content;
  return Array.isArray(content) && content[0]?.type === 'tool-result' ? content[0].output : content;
}

const named = ({ output }: { output: { name: string } }) => ({
  type: 'text',
  value: output.name,
});

describe('toModelOutput', () => {
  it('it words a result from input and output, once for each row', async () => {
    let times = 0;
    const word = ({ input, output }: { input: { of: string }; output: { name: string } }) => {
      times += 1;
      return { type: 'text', value: `${input.of} is ${output.name}` };
    };
    const result = row();
    expect(await worded(word, result)).toEqual({ type: 'text', value: 'ann is Ann' });
    await worded(word, result);
    expect(times).toBe(1);
  });

  it('what it leaves out stays out when a person has changed the input', async () => {
    const decision = { approved: true, at: 1, by: 'bob', input: { of: 'other' } };
    const text = await worded(named, row({ decision }));
    const asked: unknown[] = [];
    await worded(
      ({ input }) => (asked.push(input), { type: 'text', value: '' }),
      row({ decision }),
    );
    expect(asked).toEqual([decision.input]);
    expect(text).toEqual({ type: 'text', value: expect.stringMatching(/bob[^]*other[^]*Ann$/) });
    expect(JSON.stringify(text)).not.toContain('secret');
    const picture = () => ({ type: 'content', value: [{ type: 'text', text: 'a picture' }] });
    expect(await worded(picture, row({ decision }))).toMatchObject({
      type: 'content',
      value: [{ text: expect.stringContaining('bob') }, { text: 'a picture' }],
    });
  });

  it.each<[string, Word]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['makes megabytes', () => ({ type: 'text', value: 'x'.repeat(5 * 1024 * 1024) })],
    ['makes what no provider takes', () => ({ type: 'content', value: [{ type: 'hologram' }] })],
  ])('one that %s hides the result, and the model is informed', async (_what, word) => {
    const failures: unknown[] = [];
    const output = await worded(word, row(), {
      failed: (error, { toolCallId }) => failures.push(toolCallId, error),
    });
    expect(failures).toEqual(['c1', expect.any(Error)]);
    expect(output).toMatchObject({ type: 'error-text' });
    expect(JSON.stringify(output)).not.toContain('secret');
    expect(JSON.stringify(output).length).toBeLessThan(1_000);
  });

  it('one that hangs ends with the step, and is asked again by the next attempt', async () => {
    let asked = 0;
    const word: Word = () => {
      asked += 1;
      return asked === 1 ? new Promise(() => undefined) : { type: 'text', value: 'there' };
    };
    const controller = new AbortController();
    const result = row();
    const first = toModelOutputs([toolWith(word)], [call, result], controller.signal);
    controller.abort();
    await expect(first).rejects.toThrow();
    expect(await worded(word, result)).toEqual({ type: 'text', value: 'there' });
  });

  it.each([
    [{ type: 'media', data: 'aGk=', mediaType: 'image/png' }, 'image/png', { data: 'aGk=' }],
    [{ type: 'file-id', fileId: 'f1' }, 'application', { reference: { openai: 'f1' } }],
    [{ type: 'file-id', fileId: { xai: 'f1' } }, 'application', { reference: { xai: 'f1' } }],
    [{ type: 'image-file-id', fileId: 'f1' }, 'image', { reference: { openai: 'f1' } }],
    [
      { type: 'file-reference', providerReference: { a: 'b' } },
      'application',
      { reference: { a: 'b' } },
    ],
    [
      { type: 'image-file-reference', providerReference: { a: 'b' } },
      'image',
      { reference: { a: 'b' } },
    ],
  ])('it may give what version 6 or 7 knows: %j', async (part, mediaType, data) => {
    const word: Word = () => ({ type: 'content', value: [part] });
    expect(await worded(word, row(), { provider: 'openai' })).toMatchObject({
      value: [{ type: 'file', mediaType, data }],
    });
  });

  it('a file that a provider keeps is named for each model that is asked', async () => {
    const word: Word = () => ({ type: 'content', value: [{ type: 'file-id', fileId: 'f1' }] });
    const result = row();
    for (const name of ['openai', 'xai']) {
      expect(await worded(word, result, { provider: name })).toMatchObject({
        value: [{ data: { reference: { [name]: 'f1' } } }],
      });
    }
  });

  it('it may give content that only a provider knows', async () => {
    const custom = { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference' } } };
    expect(await worded(() => ({ type: 'content', value: [custom] }))).toEqual({
      type: 'content',
      value: [custom],
    });
  });

  it('errors and denials are worded by the runtime', async () => {
    expect(await worded(named, row({ output: undefined, error: 'no' }))).toEqual({
      type: 'error-text',
      value: 'no',
    });
    expect(await worded(named, row({ output: undefined, denied: true }))).toMatchObject({
      type: 'execution-denied',
    });
  });
});
