import { askByOpenAI } from '../../examples/other-protocols/openai.js';
import { untilEnded } from '../support/chat-client.js';
import {
  complete,
  connectOpenAI,
  refusalOf,
  toCompletionScript,
} from '../support/openai-client.js';
import { newSessionId, useProduct } from '../support/product.js';

const product = useProduct();

async function messagesOf(sessionId: string): Promise<{ id: string; role: string }[]> {
  const response = await fetch(`${product.url}/api/chat/${sessionId}/messages`);
  const { messages } = (await response.json()) as { messages: { id: string; role: string }[] };
  return messages;
}

describe('the client of OpenAI', () => {
  it('lists the agents that people may talk to as models', async () => {
    const models: string[] = [];
    for await (const { id } of connectOpenAI(product.url).models.list()) models.push(id);
    expect(models).toEqual(expect.arrayContaining(['lab', 'support']));
    expect(models).not.toContain('lab-child');
    expect(await connectOpenAI(product.url).models.retrieve('lab')).toMatchObject({
      id: 'lab',
      object: 'model',
    });
    expect(await refusalOf(connectOpenAI(product.url).models.retrieve('lab-child'))).toEqual({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('of the example asks, approves and gets the answer', async () => {
    const asked: string[] = [];
    const question = 'I want a refund for order 1042 please';
    const text = await askByOpenAI(product.url, 'none', question, ({ name }) => {
      asked.push(name);
      return true;
    });
    expect(asked).toEqual(['refund']);
    expect(text).toMatch(/refund/i);
  });

  it('gets a whole completion with its usage', async () => {
    const completion = await connectOpenAI(product.url).chat.completions.create({
      model: 'lab',
      messages: [
        toCompletionScript(
          { think: 'Hm.', say: 'One.', calls: [{ tool: 'echo', id: 'e', args: { value: 1 } }] },
          { say: 'Two.' },
        ),
      ],
    });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'lab',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'One.\n\nTwo.', reasoning_content: 'Hm.' },
        },
      ],
    });
    expect(completion.choices[0]?.message.tool_calls).toBeUndefined();
    const {
      prompt_tokens: read = 0,
      completion_tokens: written = 0,
      total_tokens,
    } = completion.usage ?? {};
    expect(written).toBeGreaterThan(0);
    expect(total_tokens).toBe(read + written);
  });

  it('gets the same streamed, with usage in the last event if it asks for it', async () => {
    const messages = [
      toCompletionScript({ think: 'Hm.', say: 'One two three.', deltas: 5 }, { say: 'unused' }),
    ];
    const stream = await connectOpenAI(product.url).chat.completions.create({
      model: 'lab',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: unknown;
    const finishes: string[] = [];
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      const finish = chunk.choices[0]?.finish_reason;
      if (finish != null) finishes.push(finish);
      if (chunk.choices.length === 0) ({ usage } = chunk);
      else expect(chunk.usage).toBeNull();
    }
    expect(text).toBe('One two three.');
    expect(finishes).toEqual(['stop']);
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) });

    const plain = connectOpenAI(product.url).chat.completions.stream({ model: 'lab', messages });
    const final = await plain.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('One two three.');
    expect(final.usage).toBeUndefined();
  });

  it('a client that disconnects does not stop the run', async () => {
    const sessionId = newSessionId();
    const client = connectOpenAI(product.url, sessionId);
    const stream = await client.chat.completions.create({
      model: 'lab',
      messages: [toCompletionScript({ say: 'abcdefghij', deltas: 10, everyMs: 50 })],
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await untilEnded(product.url, sessionId);
    expect(JSON.stringify(await messagesOf(sessionId))).toContain('abcdefghij');
  });

  it.each([true, false])(
    'a run that fails is an error with its code; streamed: %s',
    async (stream) => {
      const failing = toCompletionScript({ say: 'Half.', fail: { status: 400, afterDeltas: 1 } });
      const { code, status } = await refusalOf(
        complete(connectOpenAI(product.url), [failing], stream),
      );
      expect(code).toMatch(/^[a-z_]+$/);
      expect(status).toBe(stream ? undefined : 502);
    },
  );
});
