import {
  convertToAISDKMessages,
  convertToUIMessages,
  createUIMessageStore,
  getUIMessages,
  handleChatStream,
  loadAllUIMessages,
  loadUIMessages,
  ValidationError,
  type Caller,
  type HelixMessage,
  type LoadUIMessagesOptions,
} from '../../../ai-sdk/index.js';
import { ANONYMOUS } from '../../../protocol/ids.js';
import type { AssistantRow, ToolRow } from '../../../protocol/rows.js';
import type { OpenCall } from '../../../store/contract/call-record.js';
import type { SessionView } from '../../../store/contract/sessions.js';
import { conclude, takeStep } from '../../../store/conformance/session/played-turns.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive } from '../../support/session-driver.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import {
  ask,
  createAsking,
  createScripted,
  get,
  runtimeOf,
  scripted,
  user,
  type ChatRuntime,
} from '../reply/ask.js';

const ids = (messages: readonly { id: string }[]): string[] => messages.map(({ id }) => id);

/** A conversation of three turns, each with a call and its result. */
async function converse(): Promise<ChatRuntime> {
  const runtime = createScripted();
  for (const id of ['u1', 'u2', 'u3']) {
    const call = { tool: 'echo', id: `c-${id}`, args: { value: 1 } };
    await ask(runtime, [scripted(id, { think: 'hm', calls: [call] }, { say: 'Done.' })]);
  }
  return runtime;
}

describe('a conversation in pages', () => {
  it('a page of history counts messages as they are shown, so that calls keep their results', async () => {
    const runtime = await converse();
    const { stateStore, executor } = runtime;
    const hidden = { ...user('h1'), metadata: { hidden: true } };
    await ask(runtime, [hidden, user('u4'), user('u5'), scripted('u6', { say: 'Three.' })]);
    const all = await loadAllUIMessages(stateStore, 's1');
    expect(ids(all).join(' ')).toBe('u1 msg-1 u2 msg-3 u3 msg-5 u4 u5 u6 msg-9');
    expect(JSON.stringify(all)).not.toContain('input-available');
    // The copy ends with a question that has no reply of its own.
    const copied = { sessionId: 's1', messageIndex: 6, by: ANONYMOUS };
    const { sessionId: copy } = await executor.runs.branch(copied);
    await ask(runtime, [scripted('u7', { say: 'Four.' })], {}, 'POST', copy);
    const ofCopy = await loadAllUIMessages(stateStore, copy);
    expect(ids(ofCopy)).toEqual([...ids(all).slice(0, 7), 'u7', 'msg-8']);
    for (const [sessionId, messages] of [
      ['s1', all],
      [copy, ofCopy],
    ] as const) {
      for (const limit of [1, 2, 4, 10]) {
        for (const offset of messages.keys()) {
          const end = offset + limit;
          const page = { messages: messages.slice(offset, end), hasMore: end < messages.length };
          expect(await loadUIMessages(stateStore, sessionId, { offset, limit })).toEqual(page);
        }
      }
    }
  });

  it('a page of history reads the turns of its messages, and a reader of the newest turn that turn', async () => {
    const { stateStore, ...runtime } = await converse();
    const views = jest.spyOn(stateStore.sessions, 'view');
    const read = async (): Promise<unknown> => {
      const view = (await views.mock.results.at(-1)?.value) as SessionView | undefined;
      return view?.rows.length;
    };
    await loadUIMessages(stateStore, 's1', { offset: 1, limit: 1 });
    expect(await read()).toBe(8);
    await loadUIMessages(stateStore, 's1', { offset: 4 });
    expect(await read()).toBe(8);
    await get({ ...runtime, stateStore }, { 'x-resume-from-sequence': '1' });
    expect(await read()).toBe(4);
    await loadAllUIMessages(stateStore, 's1');
    expect(await read()).toBe(12);
  });

  it('a page of history is empty beyond the end, and for an unknown session', async () => {
    const { stateStore } = await converse();
    const behind = { messages: [], hasMore: false };
    expect(await loadUIMessages(stateStore, 's1', { offset: 6 })).toEqual(behind);
    expect(await getUIMessages({ stateStore }, { sessionId: 'none' })).toEqual(behind);
    expect(await loadAllUIMessages(createMemoryStores().store, 'none')).toEqual([]);
  });

  it.each([{ offset: -1 }, { offset: 0.5 }, { limit: 0 }, { limit: 1_001 }, { limit: Number.NaN }])(
    'history refuses %j',
    async (page) => {
      const { store: stateStore } = createMemoryStores();
      await expect(loadUIMessages(stateStore, 's1', page)).rejects.toBeInstanceOf(ValidationError);
    },
  );

  it('history leaves out reasoning, results and hidden messages on request', async () => {
    const runtime = await converse();
    await ask(runtime, [{ ...user('h1'), metadata: { hidden: true } }, user('u4')]);
    await ask(runtime, [user('u5')]);
    const store = createUIMessageStore(runtime.stateStore);
    const options = { includeReasoning: false, includeToolResults: false, filterHidden: false };
    const all = await store.getAllUIMessages('s1', options);
    expect(ids(all)).toContain('h1');
    expect(JSON.stringify(all)).not.toContain('reasoning');
    expect(JSON.stringify(all)).not.toContain('output');
    const end = await store.getUIMessages('s1', { ...options, offset: all.length - 2 });
    expect(end.messages).toEqual(all.slice(-2));
    const page = { offset: 4, limit: 4 };
    const generateId = (index: number): string => `m${String(index)}`;
    const { messages } = await store.getUIMessages('s1', { ...page, generateId });
    expect(ids(messages)).toEqual(['m4', 'm5', 'm6', 'm7']);
  });

  it('history is read by the person whose conversation it is', async () => {
    const runtime = createAsking();
    const deps = { ...runtime, defaultAgent: 'lab' };
    const params = { sessionId: 's2', messages: [user('u1')], userId: 'ann' };
    await (await handleChatStream(deps, params)).text();
    const { stateStore } = runtime;
    const store = createUIMessageStore(stateStore);
    const readers = [
      (caller?: Caller) => getUIMessages({ stateStore }, { sessionId: 's2', caller }),
      (caller?: Caller) => loadUIMessages(stateStore, 's2', { caller }),
      (caller?: Caller) => store.getUIMessages('s2', { caller }),
      async (caller?: Caller) => ({ messages: await store.getAllUIMessages('s2', { caller }) }),
      async (caller?: Caller) => ({
        messages: await loadAllUIMessages(stateStore, 's2', { caller }),
      }),
    ];
    for (const read of readers) {
      expect(ids((await read({ userId: 'ann' })).messages)).toEqual(['u1', 'msg-1']);
      for (const caller of [undefined, { userId: 'bob' }, { userId: 'ann', tenantId: 't' }]) {
        expect((await read(caller)).messages).toEqual([]);
      }
    }
  });

  it('a page of history leaves out the steps of a reply that goes on', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    for (const id of ['u1', 'u2']) await conclude(session, await session.newRun(id), 1);
    await takeStep(session, await session.newRun('u3'), 1);
    const page = { offset: 4, caller: { userId: 'ann' } };
    const { messages, hasMore } = await loadUIMessages(stores.store, session.id, page);
    expect([ids(messages), hasMore]).toEqual([['u3'], false]);
  });

  it('history has the turn that waits for people, and not the one that is being written', async () => {
    const waiting = createAsking();
    await ask(waiting, [user('u1')]);
    const [, reply] = await loadAllUIMessages(waiting.stateStore, 's1');
    expect(JSON.stringify(reply)).toContain('approval-requested');
    const gated = createGatedAgent(undefined, 'lab');
    const active = { ...runtimeOf(gated.agent), defaultAgent: 'lab' };
    const params = { sessionId: 's1', messages: [user('u1', 'speak up')] };
    const { body } = await handleChatStream(active, params);
    await gated.reached('up');
    const load = async (options: LoadUIMessagesOptions) =>
      ids((await loadUIMessages(active.stateStore, 's1', options)).messages);
    expect(await load({ follows: true })).toEqual(['u1']);
    gated.open('up');
    await new Response(body).text();
    // A page of older messages, or a read by another person, does not change what that viewer gets.
    expect(await load({ follows: true, limit: 1 })).toEqual(['u1']);
    expect(await load({})).toEqual(['u1', 'msg-1']);
    expect((await get(active)).text).toContain('Once upon a time');
    expect(await load({ follows: true })).toEqual(['u1', 'msg-1']);
    expect((await get(active)).status).toBe(204);
  });
});

describe('a stored step', () => {
  const step = (kind: 'server' | 'approval', ...calls: string[]): AssistantRow => ({
    ...{ role: 'assistant', messageId: 'msg-1', runId: 's1:1-a', step: 1 },
    parts: calls.map((toolCallId) => {
      return { type: 'tool-call', toolCallId, toolName: 'pay', input: {}, kind };
    }),
  });

  it('has the events of its calls in the order in which they came', () => {
    const result = (toolCallId: string, ...sequences: number[]) => {
      const events = sequences.map((sequence) => ({
        sequence,
        chunk: { type: 'custom', eventName: 'seen', data: sequence },
      }));
      return { role: 'tool', toolCallId, toolName: 'pay', output: 1, events } as ToolRow;
    };
    const rows = [step('server', 'a', 'b'), result('a', 3, 9), result('b', 5)];
    const [message] = convertToUIMessages(rows);
    const seen = message?.parts.flatMap((part) => (part.type === 'data-seen' ? [part.data] : []));
    expect(seen).toEqual([3, 5, 9]);
  });

  it.each([
    [{}, {}, 'approval-requested'],
    [{ edited: { from: {}, by: 'bob' } }, {}, 'input-available'],
    [{}, { mayDecide: false }, 'input-available'],
  ])(
    'asks a reader who may decide, and for the input that it shows: %j %j',
    (edited, of, state) => {
      const spec = { toolCallId: 'a', toolName: 'pay', kind: 'approval', input: {}, ...edited };
      const openCalls = [{ spec, state: 'waiting', ...of } as OpenCall];
      const [message] = convertToUIMessages([step('approval', 'a')], { openCalls });
      expect(message?.parts[1]).toMatchObject({ toolCallId: 'a', state });
    },
  );

  it.each([
    ['run_stopped', false],
    ['run_failed', false],
    ['client_tool_abandoned', false],
    ['client_tool_failed', false],
    ['tool_failed', true],
  ])('has a call that ended with %s and no decision as approved: %s', (errorCode, isApproved) => {
    const result: ToolRow = {
      role: 'tool',
      toolCallId: 'a',
      toolName: 'pay',
      error: 'no',
      errorCode,
    };
    const [message] = convertToUIMessages([step('approval', 'a'), result]);
    expect(message?.parts[1]).toMatchObject({ state: 'output-error' });
    expect(message?.parts[1] && 'approval' in message.parts[1]).toBe(isApproved);
  });

  it('has what the provider says about a thought and about a text', () => {
    const providerMetadata = { openai: { itemId: 'i1' } };
    const parts: AssistantRow['parts'] = [
      { type: 'reasoning', text: 'Hm.', providerMetadata },
      { type: 'text', text: 'Yes.', providerMetadata },
    ];
    const [message] = convertToUIMessages([{ ...step('server'), parts }]);
    expect(message?.parts.slice(1)).toMatchObject([
      { type: 'reasoning', text: 'Hm.', providerMetadata },
      { type: 'text', text: 'Yes.', providerMetadata },
    ]);
  });

  it('does not have a call that the step of a pause shows', () => {
    const held = step('approval', 'a');
    const [message] = convertToUIMessages([
      { ...held, parts: held.parts.map((part) => ({ ...part, held: true }) as typeof part) },
    ]);
    expect(message?.parts).toEqual([{ type: 'step-start' }, { type: 'step-start' }]);
  });

  it('that later questions joined shows no denial while one of them is open', () => {
    const [denied, open] = [step('approval', 'a'), { ...step('approval', 'b'), joins: true }];
    const row: ToolRow = { role: 'tool', toolCallId: 'a', toolName: 'pay', denied: true };
    const waiting = { spec: { toolCallId: 'b' }, state: 'waiting' } as OpenCall;
    const [message] = convertToUIMessages([denied, open, row], {
      openCalls: [waiting],
      unfinishedMessageId: 'msg-1',
    });
    expect(message?.parts).toMatchObject([
      { type: 'step-start' },
      { state: 'approval-responded' },
      { state: 'approval-requested' },
    ]);
  });

  it('that later questions follow shows a denial, although it made the call that is asked about', () => {
    const part = (toolCallId: string, more: object) => ({
      ...step('approval', toolCallId).parts[0],
      ...more,
    });
    const made = { ...step('approval'), parts: [part('a', {}), part('b', { held: true })] };
    const row: ToolRow = { role: 'tool', toolCallId: 'a', toolName: 'pay', denied: true };
    const waiting = { spec: { toolCallId: 'b' }, state: 'waiting' } as OpenCall;
    const rows = [made as AssistantRow, step('approval', 'b'), row];
    const [message] = convertToUIMessages(rows, { openCalls: [waiting] });
    expect(message?.parts[1]).toMatchObject({ toolCallId: 'a', state: 'output-denied' });
  });

  it("that was stored with a page's call in error shows it as the log did", () => {
    const [part] = step('server', 'a').parts;
    const typeOf = (more: object): unknown => {
      const parts = [{ ...part, byClient: true, closed: true, ...more }];
      return convertToUIMessages([{ ...step('server'), parts } as AssistantRow])[0]?.parts[1]?.type;
    };
    expect([typeOf({}), typeOf({ late: true })]).toEqual(['tool-pay', 'dynamic-tool']);
  });

  it('that shows nothing ends its reply', () => {
    const thought = { ...step('server'), parts: [{ type: 'reasoning', text: '' }] } as AssistantRow;
    expect(convertToUIMessages([thought])).toMatchObject([
      { parts: [{ type: 'step-start' }], metadata: {} },
    ]);
  });
});

it.each(['interrupt', 'abort', 'failure'] as const)(
  'a reply that was cut by %s is marked in history',
  (interrupted) => {
    const [message] = convertToAISDKMessages([
      {
        role: 'assistant',
        messageId: 'msg-1',
        runId: 'r1',
        step: 1,
        parts: [{ type: 'text', text: 'Half a sen' }],
        interrupted,
      },
    ]);
    expect(message?.metadata).toEqual({ helixInterrupted: { stop: interrupted } });
  },
);

describe('messages of the Helix packages', () => {
  const call = (id: string, name = 'search'): { id: string; name: string; arguments: unknown } => {
    return { id, name, arguments: { query: id } };
  };
  const messages: HelixMessage[] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: 'Let me search.',
      thinking: 'Hm.',
      toolCalls: [call('c1'), call('c2'), call('c3'), call('f', '__finish__')],
    },
    { role: 'tool', toolCallId: 'c1', content: '{"found":1}' },
    { role: 'tool', toolCallId: 'c2', content: 'no JSON' },
    { role: 'tool', toolCallId: 'f', content: '{"acknowledged":true}' },
    { role: 'tool', toolCallId: 'orphan', content: '1' },
    { role: 'assistant', toolCalls: [call('c4')] },
    { role: 'tool', toolCallId: 'c4', content: '', error: 'it broke' },
  ];

  it('messages of the Helix packages are converted under their names', () => {
    const part = { type: 'dynamic-tool', toolName: 'search' };
    expect(convertToAISDKMessages(messages)).toEqual([
      { id: 'msg-0', role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] },
      { id: 'msg-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
      {
        id: 'msg-2',
        role: 'assistant',
        parts: [
          { type: 'reasoning', id: 'r1', text: 'Hm.', state: 'done' },
          { type: 'text', text: 'Let me search.' },
          {
            ...part,
            toolCallId: 'c1',
            input: { query: 'c1' },
            state: 'output-available',
            output: { found: 1 },
          },
          {
            ...part,
            toolCallId: 'c2',
            input: { query: 'c2' },
            state: 'output-available',
            output: 'no JSON',
          },
          { ...part, toolCallId: 'c3', input: { query: 'c3' }, state: 'input-available' },
        ],
      },
      {
        id: 'msg-3',
        role: 'assistant',
        parts: [
          {
            ...part,
            toolCallId: 'c4',
            input: { query: 'c4' },
            state: 'output-error',
            errorText: 'it broke',
          },
        ],
      },
    ]);
  });

  it('both names of the converter take messages of the Helix packages', () => {
    expect(convertToUIMessages(messages)).toEqual(convertToAISDKMessages(messages));
  });

  it('messages of the Helix packages accept the options of rows', () => {
    const [, , reply] = convertToAISDKMessages(messages, {
      generateId: (index) => `own-${String(index)}`,
      includeReasoning: false,
      mergeToolResults: false,
    });
    expect(reply?.id).toBe('own-2');
    expect(reply?.parts[0]).toEqual({ type: 'text', text: 'Let me search.' });
    expect(JSON.stringify(reply)).not.toContain('output');
  });
});
