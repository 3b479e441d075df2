import OpenAI from 'openai';

/**
 * Asks an agent by OpenAI's protocol and answers approvals, which arrive as calls.
 *
 * @param key the bearer token of `authenticate`
 */
export async function askByOpenAI(
  url: string,
  key: string,
  question: string,
  approve: (call: { name: string; arguments: string }) => boolean,
): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  for (;;) {
    const reply = await client.chat.completions.create({ model: 'support', messages });
    const [choice] = reply.choices;
    if (choice?.finish_reason !== 'tool_calls') return choice?.message.content ?? '';
    messages.push(choice.message);
    for (const call of choice.message.tool_calls ?? []) {
      if (call.type !== 'function') continue;
      const content = JSON.stringify({ approved: approve(call.function) });
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}
