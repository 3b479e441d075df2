import type { ChatMessage } from '../../../ai-sdk/client/index.js';
import {
  useResumeClientTools,
  type UseResumeClientToolsOptions,
} from '../../../ai-sdk/react/index.js';
import { renderHook, untilShown, type RenderedHook } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

type Options = UseResumeClientToolsOptions;

const rendered: { unmount: () => void }[] = [];

afterEach(() => {
  for (const hook of rendered.splice(0)) hook.unmount();
});

function show(options: Options, isStrict = false): RenderedHook<Options, void> {
  const hook = renderHook(useResumeClientTools, options, { isStrict });
  rendered.push(hook);
  return hook;
}

function call(toolCallId: string, state = 'input-available', more: object = {}): { type: string } {
  const part = {
    type: 'dynamic-tool',
    toolName: 'locate',
    toolCallId,
    state,
    input: { toolCallId },
  };
  return { ...part, ...more };
}

function chatOf(
  parts: { type: string }[],
  more: Partial<Options['chat']> = {},
): Options['chat'] & { outputs: unknown[] } {
  const outputs: unknown[] = [];
  const messages: ChatMessage[] = [
    { id: 'u1', role: 'user', parts: [] },
    { id: 'msg-1', role: 'assistant', parts: [{ type: 'step-start' }, ...parts] },
  ];
  const addToolOutput = (output: unknown): unknown => outputs.push(output);
  return { id: 's1', status: 'ready', messages, addToolOutput, outputs, ...more };
}

/** A tool whose calls end when the test says so. */
function createTool(): {
  locate: (input: unknown, context: { toolCallId: string; abortSignal: AbortSignal }) => unknown;
  calls: {
    input: unknown;
    toolCallId: string;
    signal: AbortSignal;
    end: (value: unknown) => void;
  }[];
} {
  const calls: ReturnType<typeof createTool>['calls'] = [];
  return {
    calls,
    locate: (input, { toolCallId, abortSignal: signal }) =>
      new Promise((end) => calls.push({ input, toolCallId, signal, end })),
  };
}

/** Long enough for whatever React and the hook would still do. */
async function calm(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve));
}

describe.each([false, true])('client tools, in strict mode: %s', (isStrict) => {
  it('a page executes each client call once, in parallel', async () => {
    const { locate, calls } = createTool();
    const chat = chatOf([call('c1'), call('c2')]);
    const hook = show({ chat, toolHandlers: { locate } }, isStrict);
    await until('both are begun', () => calls.length === 2);
    hook.render({ chat: { ...chat, messages: [...chat.messages] }, toolHandlers: { locate } });
    calls[1]?.end('two');
    calls[0]?.end(undefined);
    await until('both are posted', () => chat.outputs.length === 2);
    await calm();
    expect(calls.map(({ input, toolCallId }) => [input, toolCallId])).toEqual([
      [{ toolCallId: 'c1' }, 'c1'],
      [{ toolCallId: 'c2' }, 'c2'],
    ]);
    // A result without a value would get lost on its way.
    expect(chat.outputs).toEqual([
      { tool: 'locate', toolCallId: 'c2', output: 'two' },
      { tool: 'locate', toolCallId: 'c1', output: null },
    ]);
    expect(calls.some(({ signal }) => signal.aborted)).toBe(false);
  });

  it('a client tool is aborted when the page closes, and nothing is posted afterwards', async () => {
    const { locate, calls } = createTool();
    const chat = chatOf([call('c1')]);
    const hook = show({ chat, toolHandlers: { locate } }, isStrict);
    await until('it is begun', () => calls.length === 1);
    hook.unmount();
    await until('it is aborted', () => calls[0]?.signal.aborted === true);
    calls[0]?.end('late');
    await calm();
    expect(chat.outputs).toEqual([]);
  });

  it('a client tool is aborted when another session is shown, whose calls are executed', async () => {
    const { locate, calls } = createTool();
    const chat = chatOf([call('c1')]);
    const hook = show({ chat, toolHandlers: { locate } }, isStrict);
    await until('it is begun', () => calls.length === 1);
    // The same id in another conversation is another call.
    const other = chatOf([call('c1')], { id: 's2' });
    hook.render({ chat: other, toolHandlers: { locate } });
    await until('the other is begun', () => calls.length === 2);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    calls[0]?.end('late');
    calls[1]?.end('there');
    await until('it is posted', () => other.outputs.length === 1);
    await calm();
    expect(chat.outputs).toEqual([]);
  });

  it('a page reports what a handler throws', async () => {
    const failures: unknown[] = [];
    const chat = chatOf([call('c1')]);
    const locate = (): never => {
      throw new Error('no permission');
    };
    show(
      { chat, toolHandlers: { locate }, onError: (error, at) => failures.push([error, at]) },
      isStrict,
    );
    await until('it is posted', () => chat.outputs.length === 1);
    const output = { state: 'output-error', errorText: 'no permission' };
    expect(chat.outputs).toEqual([{ tool: 'locate', toolCallId: 'c1', ...output }]);
    const at = { toolName: 'locate', toolCallId: 'c1' };
    expect(failures).toEqual([[new Error('no permission'), at]]);
  });
});

describe('client tools', () => {
  it('a page leaves calls alone that do not wait for it', async () => {
    const { locate, calls } = createTool();
    const chat = chatOf([
      call('c1', 'output-available'),
      call('c2', 'input-available', { providerExecuted: true }),
      call('c3', 'input-available', { toolName: 'toString' }),
      call('c4', 'input-streaming'),
      call('c5', 'input-available', { approval: { id: 'a' } }),
      call('c6'),
      call('c7'),
    ]);
    const pending = [
      { toolCallId: 'c6', deadline: Date.now() - 1 },
      { toolCallId: 'c7', deadline: Date.now() + 60_000 },
    ];
    await untilShown(show({ chat, toolHandlers: { locate }, pending }));
    await until('one is begun', () => calls.length > 0);
    await calm();
    expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(['c7']);
  });

  it('a page waits for the end of a reply, since a replay shows answered calls as open', async () => {
    const { locate, calls } = createTool();
    const chat = chatOf([call('c1')], { status: 'streaming' });
    const hook = show({ chat, toolHandlers: { locate } });
    await untilShown(hook);
    await calm();
    expect(calls).toEqual([]);
    hook.render({ chat: { ...chat, status: 'ready' }, toolHandlers: { locate } });
    await until('it is begun', () => calls.length === 1);
  });

  it('a page asks for a lease first, and again after the time that the server names', async () => {
    const { locate, calls } = createTool();
    const asked: string[] = [];
    const answers = new Map<string, (boolean | number)[]>([
      ['c1', [1, true]],
      ['c2', [false]],
      ['c3', [true]],
    ]);
    const chat = chatOf([call('c1'), call('c2'), call('c3')], { status: 'streaming' });
    show({
      chat,
      toolHandlers: { locate },
      lease: ({ toolCallId, toolName, sessionId }) => {
        asked.push(`${sessionId} ${toolName} ${toolCallId}`);
        return Promise.resolve(answers.get(toolCallId)?.shift() ?? false);
      },
    });
    await until('two are begun', () => calls.length === 2);
    await calm();
    expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(['c3', 'c1']);
    expect(asked).toEqual(['s1 locate c1', 's1 locate c2', 's1 locate c3', 's1 locate c1']);
  });

  it('a page asks again for a lease whose request failed', async () => {
    const { locate, calls } = createTool();
    const failures: unknown[] = [];
    const lease = jest.fn(() => Promise.resolve(true)).mockRejectedValueOnce(new Error('away'));
    const chat = chatOf([call('c1')]);
    const options: Options = {
      chat,
      toolHandlers: { locate },
      lease,
      onError: (error) => failures.push(error),
    };
    const hook = show(options);
    await until('it failed', () => failures.length === 1);
    hook.render({ ...options, chat: { ...chat } });
    await until('it is begun', () => calls.length === 1);
    expect(failures).toEqual([new Error('away')]);
  });
});
