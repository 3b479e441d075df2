import { tool, ToolLoopAgent as Theirs, type ModelMessage } from 'ai';
import { z } from 'zod';
import { ToolLoopAgent, type ToolLoopAgentMore } from '../../../extensions/one-process/index.js';
import { LIMITS } from '../../../protocol/limits.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { fakeModel, parts, sayInTurn, type Script } from '../../support/fake-model.js';

// A program passes messages of its own store before those of the record.

const { call, finish } = parts;
const tools = {
  pay: tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: ({ euros }) => ({ paid: euros }),
  }),
  locate: tool({ inputSchema: z.object({}), outputSchema: z.object({ city: z.string() }) }),
};
function open(script: Script, more?: ToolLoopAgentMore) {
  const model = fakeModel(script);
  return { model, agent: new ToolLoopAgent({ model, tools }, more) };
}
const user = (content: string): ModelMessage => ({ role: 'user', content });
const stored: ModelMessage[] = [
  user('one'),
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'p1', toolName: 'pay', input: { euros: 5 } }],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'p1',
        toolName: 'pay',
        output: { type: 'json', value: { paid: 5 } },
      },
    ],
  },
];

describe('a history that is not known', () => {
  it('may end with a result, as in the AI SDK', async () => {
    const { agent, model } = open(sayInTurn());
    const { sessionId } = await agent.generate({ messages: [...stored, user('two')] });
    const theirs = fakeModel(sayInTurn());
    const stream = await new Theirs({ model: theirs, tools }).stream({
      messages: [...stored, user('two')],
    });
    await stream.consumeStream();
    expect(model.doStreamCalls[0]?.prompt).toEqual(theirs.doStreamCalls[0]?.prompt);
    expect(theirs.doStreamCalls[0]?.prompt).toHaveLength(4);
    // The record owns the history now.
    const again = await agent.generate({ messages: [...stored, user('three')], sessionId });
    expect(again.sessionId).toBe(sessionId);
    expect(model.doStreamCalls[1]?.prompt).toHaveLength(6);
  });

  it('has the id that the program names for it', async () => {
    const { agent, model } = open(sayInTurn());
    const named = { messages: [...stored, user('two')], sessionId: 'of-the-program' };
    expect(await agent.generate(named)).toMatchObject({ sessionId: named.sessionId });
    expect(model.doStreamCalls[0]?.prompt).toHaveLength(4);
    const unfit = agent.generate({ ...named, sessionId: 'a b' });
    await expect(unfit).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('has no result that the conversation waits for', async () => {
    const { agent } = open(sayInTurn([...call('l1', 'locate', {}), ...finish('tool-calls')]));
    const asked = await agent.generate({ prompt: 'Where?' });
    const result = { type: 'tool-result', toolCallId: 'l1', toolName: 'locate' } as const;
    const output = { type: 'json', value: { city: 'Rome' } } as const;
    const messages: ModelMessage[] = [
      user('Where?'),
      ...asked.responseMessages,
      { role: 'tool', content: [{ ...result, output }] },
    ];
    const both = agent.generate({ messages: [...messages, user('And now?')] });
    await expect(both).rejects.toThrow(/two calls/);
    const done = await agent.generate({ messages });
    messages.push(...done.responseMessages, user('And now?'));
    expect(await agent.generate({ messages })).toMatchObject({ sessionId: asked.sessionId });
  });

  it('leaves nothing if the new message is refused', async () => {
    const stores = createMemoryStores();
    const { agent } = open(sayInTurn(), { stores });
    const sessionId = 'of-the-program';
    const messages = [...stored, user('x'.repeat(LIMITS.userMessageBytes + 1))];
    const refused = agent.generate({ messages, sessionId });
    await expect(refused).rejects.toMatchObject({ code: 'message_too_large' });
    expect(await stores.store.sessions.read(sessionId)).toBeUndefined();
    // The record keeps its earlier messages.
    await agent.generate({ messages: [...stored, user('two')], sessionId });
    const again = agent.generate({ messages, sessionId });
    await expect(again).rejects.toMatchObject({ code: 'message_too_large' });
    expect(await stores.store.sessions.read(sessionId)).toBeDefined();
  });
});
