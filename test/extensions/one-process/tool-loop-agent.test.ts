import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  createAgentUIStream,
  readUIMessageStream,
  tool,
  ToolLoopAgent as Theirs,
  type ModelMessage,
  type UIMessage,
} from 'ai';
import { z } from 'zod';
import { beginAfterHistory } from '../../../extensions/one-process/ai-sdk/adopt-history.js';
import {
  AgentRunError,
  createInProcessExecutor,
  ToolLoopAgent,
  type ToolLoopAgentMore,
} from '../../../extensions/one-process/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { formatApprovalId } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { drive, newCall } from '../../support/session-driver.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { apiError, fakeModel, parts, sayInTurn, type Script } from '../../support/fake-model.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';

// AI SDK programs beyond the examples, and refused uses.

const { text, call, finish, asks, says } = parts;
const tools = {
  pay: tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: ({ euros }) => ({ paid: euros }),
  }),
  locate: tool({ inputSchema: z.object({}), outputSchema: z.object({ city: z.string() }) }),
};
function open(script: Script, more?: ToolLoopAgentMore) {
  const model = fakeModel(script);
  const toolApproval = { pay: 'user-approval' } as const;
  return { model, agent: new ToolLoopAgent({ model, tools, toolApproval }, more) };
}
const PAYS = asks(call('p1', 'pay', { euros: 5 }));
const user = (content: string): ModelMessage => ({ role: 'user', content });
const approve = (approvalId = ''): ModelMessage => ({
  role: 'tool',
  content: [{ type: 'tool-approval-response', approvalId, approved: true }],
});
const approvalIn = (content: readonly { type: string }[]): string | undefined =>
  content.flatMap((part) => ('approvalId' in part ? [String(part.approvalId)] : []))[0];

describe('a ToolLoopAgent of this runtime', () => {
  it('leaves nothing behind when a program drops it', async () => {
    const use = async () => {
      const { agent, model } = open(sayInTurn(says('One.')));
      await agent.generate({ messages: [user('first')] });
      return new WeakRef(model);
    };
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const model = await use();
    await until('its model is collected', () => {
      collect();
      return model.deref() === undefined;
    });
  });

  it('continues its conversation with the messages that it gave back', async () => {
    const { agent, model } = open(sayInTurn(says('One.'), says('Two.')));
    const messages = [user('first')];
    const first = await agent.generate({ messages });
    messages.push(...first.responseMessages, user('second'));
    const second = await agent.generate({ messages });
    expect([second.text, second.steps.length]).toEqual(['Two.', 1]);
    expect(second.sessionId).toBe(first.sessionId);
    expect(model.doStreamCalls[1]?.prompt).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'One.' }] },
      { role: 'user', content: [{ text: 'second' }] },
    ]);
    const third = await agent.generate({ prompt: 'third' });
    expect(third.sessionId).not.toBe(first.sessionId);
  });

  it('takes the results of tools that the program carries out, and gives each message back once', async () => {
    const asks = [...call('l1', 'locate', {}), ...PAYS];
    const { agent } = open(sayInTurn(asks, says('In Rome.')));
    const asked = await agent.generate({ prompt: 'Where, and pay.' });
    expect(asked.pending.map(({ kind }) => kind).sort()).toEqual(['approval', 'client']);
    const result = { toolCallId: 'l1', toolName: 'locate' } as const;
    const output = { type: 'json', value: { city: 'Rome' } } as const;
    const messages: ModelMessage[] = [
      user('Where, and pay.'),
      ...asked.responseMessages,
      { role: 'tool', content: [{ type: 'tool-result', ...result, output }] },
    ];
    const half = await agent.generate({ messages });
    expect([half.text, half.pending.length]).toEqual(['', 1]);
    messages.push(...half.responseMessages, approve(approvalIn(asked.content)));
    const done = await agent.generate({ messages });
    expect([done.text, done.finishReason, done.steps.length]).toEqual(['In Rome.', 'stop', 1]);
    const roles = [asked, half, done].map(({ response }) =>
      response.messages.map(({ role }) => role),
    );
    expect(roles).toEqual([['assistant'], [], ['tool', 'assistant']]);
  });

  it('is continued by another process over the same stores, by the id of an approval alone', async () => {
    const stores = createMemoryStores();
    const script = sayInTurn(PAYS, says('Paid.'));
    const first = open(script, { stores });
    const { content, responseMessages } = await first.agent.generate({ prompt: 'Pay.' });
    await first.agent.close();
    const second = open((n, options) => script(n + 1, options), { stores });
    const messages = [user('Pay.'), ...structuredClone(responseMessages)];
    messages.push(approve(approvalIn(content)));
    expect(await second.agent.generate({ messages })).toMatchObject({ text: 'Paid.' });
    // The record has the answer already if the program sends its stored messages again.
    const again = second.agent.generate({ messages: structuredClone(messages) });
    await expect(again).rejects.toMatchObject({
      code: 'already_completed',
    });
  });

  it('serves a page by the AI SDK itself, turn after turn', async () => {
    const { agent, model } = open(sayInTurn(says('One.'), says('Two.')));
    const uiMessages: UIMessage[] = [];
    for (const asked of ['first', 'second']) {
      const parts = [{ type: 'text' as const, text: asked }];
      uiMessages.push({ id: asked, role: 'user', parts });
      const stream = await createAgentUIStream({ agent: agent as never, uiMessages });
      let reply: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream })) reply = message;
      if (reply !== undefined) uiMessages.push({ ...reply, id: `reply to ${asked}` });
    }
    expect(JSON.stringify(uiMessages)).toMatch(/One\..*Two\./);
    expect(model.doStreamCalls[1]?.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it.each([true, false])(
    'serves an answer (approved: %j) of a page as the AI SDK does',
    async (approved) => {
      const served = async (Agent: typeof ToolLoopAgent | typeof Theirs) => {
        const model = fakeModel(sayInTurn(PAYS, says('Well.')));
        const toolApproval = { pay: 'user-approval' } as const;
        const agent = new Agent({ model, tools, toolApproval }) as never;
        const uiMessages: UIMessage[] = [
          { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] },
        ];
        let asked: UIMessage | undefined;
        const stream = await createAgentUIStream({ agent, uiMessages });
        for await (const message of readUIMessageStream({ stream })) asked = message;
        const parts = (asked?.parts ?? []).map((part) =>
          'approval' in part && part.approval !== undefined
            ? { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved } }
            : part,
        );
        uiMessages.push({ id: 'a', role: 'assistant', parts } as UIMessage);
        const types: string[] = [];
        for await (const { type } of await createAgentUIStream({ agent, uiMessages })) {
          if (types.at(-1) !== type) types.push(type);
        }
        return types;
      };
      const types = await served(ToolLoopAgent);
      expect(types).toEqual(await served(Theirs));
      expect(types).toContain(approved ? 'tool-output-available' : 'tool-output-denied');
    },
  );

  it.each([
    [{}, /prompt or messages/],
    [{ prompt: 'a', messages: [user('b')] }, /prompt or messages/],
    [{ prompt: 'a', temperature: 1 }, /"temperature"/],
    [{ messages: [] }, /neither/],
    [{ messages: [{ role: 'system', content: 'Obey.' }, user('a')] }, /instructions/],
    [
      {
        messages: [
          { role: 'system', content: 'Obey.' },
          { role: 'assistant', content: 'Yes.' },
          user('b'),
        ],
      },
      /instructions/,
    ],
    [{ messages: [approve('no id')] }, /not known/],
    [{ messages: [approve('s1:1-a::c1'), approve('s2:1-a::c1')] }, /different conversations/],
    [{ messages: [approve('s1:1-a::c1')], sessionId: 's2' }, /different conversations/],
    [{ messages: [approve('s1:1-a::c1'), user('and')] }, /two calls/],
    [{ messages: [approve('s1:1-a::c1')] }, /no such conversation/],
  ])('refuses what it would have to guess: %j', async (asked, why) => {
    const { agent, model } = open(sayInTurn());
    await expect(agent.generate(asked as never)).rejects.toThrow(why);
    expect(model.doStreamCalls).toEqual([]);
  });

  it("leaves another person's conversation alone", async () => {
    const { agent } = open(sayInTurn(PAYS, says('Paid.')));
    const { sessionId, content } = await agent.generate({ prompt: 'Pay.', userId: 'ann' });
    const messages = [approve(approvalIn(content))];
    for (const steal of [
      () => agent.generate({ prompt: 'Show me.', sessionId, userId: 'eve' }),
      () => agent.generate({ messages, userId: 'eve' }),
      () => agent.stream({ messages }),
    ]) {
      await expect(steal()).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await agent.generate({ messages, userId: 'ann' })).toMatchObject({ text: 'Paid.' });
  });

  it.each(['a prompt', 'an approval'])(
    "hears nothing of another person's conversation while %s for it is checked",
    async (what) => {
      const stores = createMemoryStores();
      const { sessions } = stores.store;
      const checking = new AsyncLocalStorage<Promise<void>>();
      const read: typeof sessions.read = async (id) => {
        await checking.getStore();
        return sessions.read(id);
      };
      const store = { ...stores.store, sessions: { ...sessions, read } };
      const script = sayInTurn(PAYS, says('Paid.'));
      const { agent } = open(script, { stores: { ...stores, store } });
      const { sessionId, content } = await agent.generate({ prompt: 'Pay.', userId: 'ann' });
      const messages = [approve(approvalIn(content))];
      const asked = what === 'a prompt' ? { prompt: 'Show me.', sessionId } : { messages };
      const heard: unknown[] = [];
      const onStepEnd = (step: unknown) => heard.push(step);
      let go = (): void => undefined;
      const gone = new Promise<void>((resolve) => (go = resolve));
      const stealing = checking.run(gone, () =>
        agent.generate({ ...asked, userId: 'eve', onStepEnd }),
      );
      await agent.generate({ messages, userId: 'ann' });
      go();
      await expect(stealing).rejects.toMatchObject({ code: 'not_found' });
      expect(heard).toEqual([]);
    },
  );

  it('leaves the conversation of a tenant alone, whose user has the same name', async () => {
    const stores = createMemoryStores();
    const session = drive(stores, toStoredSessionId('s1', 'acme'));
    const begun = await session.begin({ owner: 'ann', tenant: 'acme' });
    const runId = begun.kind === 'begun' ? begun.run.runId : '';
    await session.ask(runId, 1, [newCall('c1', 'approval')]);
    const { agent } = open(sayInTurn(), { stores });
    const messages = [approve(formatApprovalId(runId, 'c1'))];
    await expect(agent.generate({ messages, userId: 'ann' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await stores.store.calls.read(session.id, 'c1'))?.state).toBe('waiting');
  });

  it('rejects with the code of the failure, also in a stream', async () => {
    const { agent } = open(() => Promise.reject(apiError(401, { message: 'secret' })));
    const failed: unknown = await agent.generate({ prompt: 'a' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(AgentRunError);
    expect(failed).toMatchObject({ code: 'provider_unauthorized', retryable: false });
    const { text: later } = await agent.stream({ prompt: 'a' });
    await expect(later).rejects.toMatchObject({ code: 'provider_unauthorized' });
  });

  it('text that is withdrawn ends the stream of the text, and the whole text comes all the same', async () => {
    let seen = '';
    const { agent } = open(async function* (n) {
      yield* text('Once upon', 't1').slice(0, -1);
      if (n === 0) {
        await until('the text is shown', () => seen === 'Once upon');
        throw apiError(503, {
          message: 'broken',
          isRetryable: true,
          responseHeaders: { 'retry-after-ms': '1' },
        });
      }
      yield { type: 'text-end', id: 't1' };
      yield* finish();
    });
    const stream = await agent.stream({ prompt: 'a' });
    const read = (async () => {
      for await (const piece of stream.textStream) seen += piece;
    })();
    await expect(read).rejects.toMatchObject({ code: 'rewound' });
    expect(seen).toBe('Once upon');
    expect(await stream.text).toBe('Once upon');
  });

  it('a signal stops the run, and is the reason', async () => {
    const abort = new AbortController();
    const { agent } = open(async function* () {
      yield* text('Once', 't1').slice(0, -1);
      abort.abort(new Error('enough'));
      await new Promise(() => undefined);
    });
    const stopped = agent.generate({ prompt: 'a', abortSignal: abort.signal });
    await expect(stopped).rejects.toThrow('enough');
    await expect(agent.generate({ prompt: 'a', abortSignal: abort.signal })).rejects.toThrow(
      'enough',
    );
  });
});

// A program passes messages of its own store before those of the record.
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
  it('is taken over, and nothing of it is carried out', async () => {
    const { agent, model } = open(sayInTurn(says('Three.')));
    const called = { type: 'tool-call', toolName: 'pay', input: { euros: 5 } } as const;
    const messages: ModelMessage[] = [
      ...stored,
      { role: 'assistant', content: [{ ...called, toolCallId: 'p2' }] },
      { role: 'assistant', content: 'Two.' },
      user('three'),
    ];
    const { sessionId } = await agent.generate({ messages });
    expect(model.doStreamCalls[0]?.prompt).toMatchObject([
      { role: 'user', content: [{ text: 'one' }] },
      { role: 'assistant', content: [{ toolCallId: 'p1', input: { euros: 5 } }] },
      { role: 'tool', content: [{ toolCallId: 'p1', output: { value: { paid: 5 } } }] },
      { role: 'assistant', content: [{ text: 'Two.' }] },
      { role: 'user', content: [{ text: 'three' }] },
    ]);
    // Each call begins a new conversation unless the program names one to continue.
    const again = await agent.generate({ messages });
    expect(again.sessionId).not.toBe(sessionId);
    const named = await agent.generate({ messages: [...messages, user('four')], sessionId });
    expect(named.sessionId).toBe(sessionId);
  });

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
    const { agent } = open(sayInTurn(asks(call('l1', 'locate', {}))));
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

  it('stays if another call has begun a run of it before the new message is refused', async () => {
    const stores = createMemoryStores();
    const desk = fakeAgent('desk', fakeModel(sayInTurn()));
    const executor = createInProcessExecutor({ agents: [desk], stores });
    const foreign = { sessionId: 's1', agent: 'desk', owner: 'anonymous', messages: stored };
    for (const isBegun of [false, true]) {
      const refused = beginAfterHistory(executor, stores.store, foreign, async () => {
        if (isBegun) await executor.execute('desk', 'hi', { sessionId: 's1' });
        throw new HelixError('message_too_large', 'too large');
      });
      await expect(refused).rejects.toMatchObject({ code: 'message_too_large' });
      expect((await stores.store.sessions.read('s1')) !== undefined).toBe(isBegun);
    }
    await executor.close();
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
