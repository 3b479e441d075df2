import type OpenAI from 'openai';
import { charge } from '../support/lab-calls.js';
import {
  complete,
  connectOpenAI,
  refusalOf,
  toCompletionScript,
} from '../support/openai-client.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

type Fetch = typeof fetch;

/** Counts conversations that begin from now on; other tests may have left many. */
async function countBegun(): Promise<() => Promise<number>> {
  const list = async (): Promise<string[]> => {
    const response = await fetch(`${product.url}/api/conversations?limit=100`);
    const { conversations } = (await response.json()) as { conversations: { sessionId: string }[] };
    return conversations.map(({ sessionId }) => sessionId);
  };
  const before = new Set(await list());
  return async () => (await list()).filter((id) => !before.has(id)).length;
}

async function messagesOf(sessionId: string): Promise<number> {
  const response = await fetch(`${product.url}/api/chat/${sessionId}/messages`);
  return ((await response.json()) as { messages: unknown[] }).messages.length;
}

const ask = (text: string, ...steps: object[]): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
  model: 'lab',
  messages: [toCompletionScript({ say: text, ...steps[0] })],
});

describe('the client of OpenAI as it comes: tries', () => {
  it('a reply that was lost is sent again, and nothing is done twice', async () => {
    const begun = await countBegun();
    const sessions: (string | null)[] = [];
    const send: Fetch = async (...request) => {
      const response = await fetch(...request);
      sessions.push(response.headers.get('x-session-id'));
      if (sessions.length > 1) return response;
      await response.body?.cancel();
      throw new TypeError('fetch failed');
    };
    const client = connectOpenAI(product.url, undefined, { fetch: send });
    const body = ask('Once.');
    const { choices } = await client.chat.completions.create(body);
    expect(choices[0]?.message.content).toBe('Once.');
    expect(sessions).toHaveLength(2);
    expect(sessions[1]).toBe(sessions[0]);
    expect(await begun()).toBe(1);
    // Another request with the same content begins another conversation.
    await connectOpenAI(product.url).chat.completions.create(body);
    expect(await begun()).toBe(2);
  });

  it('an API that is killed in the middle of a reply is asked again, and nothing is done twice', async () => {
    const begun = await countBegun();
    let tries = 0;
    const send: Fetch = (...request) => {
      tries += 1;
      return fetch(...request);
    };
    const client = connectOpenAI(product.url, undefined, { fetch: send, maxRetries: 12 });
    const reply = client.chat.completions
      .create(ask('abcdefghij', { deltas: 10, everyMs: 150 }))
      .withResponse();
    await until('the run is there', async () => (await begun()) === 1);
    await product.kill9Api();
    await product.startApi();
    const { data, response } = await reply;
    expect(data.choices[0]?.message.content).toBe('abcdefghij');
    expect(tries).toBeGreaterThan(1);
    expect(await begun()).toBe(1);
    expect(await messagesOf(response.headers.get('x-session-id') ?? '')).toBe(2);
  });

  it('a refusal that another try would meet again is not tried again', async () => {
    const sessionId = newSessionId();
    const running = await connectOpenAI(product.url, sessionId).chat.completions.create({
      model: 'lab',
      messages: [toCompletionScript({ hangMs: 60_000 })],
      stream: true,
    });
    let tries = 0;
    const send: Fetch = (...request) => {
      tries += 1;
      return fetch(...request);
    };
    const client = connectOpenAI(product.url, sessionId, { fetch: send });
    expect(await refusalOf(client.chat.completions.create(ask('x')))).toMatchObject({
      status: 409,
    });
    expect(tries).toBe(1);
    running.controller.abort();
  });
});

describe('the client of OpenAI: answers and copies', () => {
  it('an approval that came too late is refused by its code', async () => {
    const client = connectOpenAI(product.url, newSessionId());
    await complete(client, [toCompletionScript({ calls: [charge('c1', 5)] })], false);
    await complete(client, [toCompletionScript({ say: 'Never mind.' })], false);
    for (const isStreamed of [true, false]) {
      const content = '{"approved":true}';
      const late = complete(client, [{ role: 'tool', tool_call_id: 'c1', content }], isStreamed);
      expect(await refusalOf(late)).toEqual({ status: 409, code: 'not_pending' });
    }
  });

  it('a copy with calls of a conversation of the caller continues it', async () => {
    const client = connectOpenAI(product.url);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      toCompletionScript(
        { calls: [{ tool: 'locate', id: 'c1', args: { question: 'where?' } }] },
        { say: 'Seen.' },
      ),
    ];
    const asked = await complete(client, messages, false);
    const [call] = asked.message.tool_calls ?? [];
    messages.push(asked.message);
    messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: 'Berlin' });
    const seen = await complete(client, messages, false);
    messages.push(seen.message, toCompletionScript({ say: 'Here.' }));
    const begun = await countBegun();
    const { data, response } = await client.chat.completions
      .create({ model: 'lab', messages })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Here.');
    expect(`${response.headers.get('x-session-id') ?? ''}:c1`).toBe(call?.id);
    expect(await begun()).toBe(0);
    const forged = messages.map((message) =>
      message.role === 'tool' ? { ...message, tool_call_id: 'unknown:c1' } : message,
    );
    await complete(client, forged, false);
    expect(await begun()).toBe(1);
  });

  it('a key with another model, or with one more message, is refused', async () => {
    const options = { headers: { 'idempotency-key': `k-${newSessionId()}` } };
    const client = connectOpenAI(product.url);
    const body = ask('Once.');
    await client.chat.completions.create(body, options);
    const other = client.chat.completions.create({ ...body, model: 'support' }, options);
    expect(await refusalOf(other)).toMatchObject({ status: 409 });
    const messages = [...body.messages, toCompletionScript({ say: 'Twice.' })];
    const more = client.chat.completions.create({ ...body, messages }, options);
    expect(await refusalOf(more)).toEqual({ status: 409, code: 'message_conflict' });
  });
});
