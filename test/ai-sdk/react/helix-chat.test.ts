import type { UIMessage } from '@ai-sdk/react';
import type { ChatTransport } from 'ai';
import { ChatRequestError, ReplyBrokenError } from '../../../ai-sdk/client/index.js';
import { BROKEN_OFF } from '../../../ai-sdk/parts/errors.js';
import type { UseHelixChatOptions } from '../../../ai-sdk/react/index.js';
import { HOOKS, openHookPage } from '../../support/hook-page.js';
import { openDocument } from '../../support/open-document.js';
import { renderHook, untilShown } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

const QUESTION: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Refund?' }] };
const WAITING: UIMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolName: 'charge',
      toolCallId: 'c1',
      state: 'approval-requested',
      input: { amount: 5 },
      approval: { id: 'r::c1' },
    },
  ],
};
const target = { url: 'http://page.test', sessionId: 'chat-1' };

/** A server that sends these parts to each page that follows the turn. */
function streamOf(parts: readonly object[], signal: AbortSignal | null | undefined): Response {
  const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
  signal?.throwIfAborted();
  return new Response(`${text}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  });
}

let unmount: (() => void) | undefined;
afterEach(() => {
  unmount?.();
});

/** A server that breaks each reply off; `followedAt` has the times at which one was followed. */
function createBreaking(
  followedAt: number[],
  reason: 'withdrawn' | 'unreachable' = 'withdrawn',
): ChatTransport<UIMessage> {
  const withdraw = (): Promise<ReadableStream<never>> => {
    followedAt.push(Date.now());
    const cancelled = new ReadableStream<never>({
      start: (controller) => {
        controller.error(new ReplyBrokenError(reason));
      },
    });
    return Promise.resolve(cancelled);
  };
  return { sendMessages: withdraw, reconnectToStream: withdraw };
}

describe.each(HOOKS)('useHelixChat on %s', (_, useHelixChat) => {
  it('a retry after a fault of the server repeats no turn', async () => {
    const sent: string[] = [];
    const page = await openHookPage(useHelixChat, {
      ...target,
      messages: [QUESTION, WAITING],
      resume: true,
      send: async (input, init) => {
        if (typeof init?.body === 'string') sent.push(init.body);
        if (!(input as string).includes('/snapshot')) {
          return Response.json({ error: 'A fault.', code: 'internal_error' }, { status: 500 });
        }
        return Response.json({ status: 'paused', messages: [QUESTION, WAITING] });
      },
    });
    try {
      await until('the fault is shown', () => page.chat.error !== undefined);
      const before = page.requests.length;
      await page.chat.retry();
      await until(
        'the page asks again',
        () => page.requests.length > before || page.chat.error === undefined,
      );
      expect(sent).toEqual([]);
      expect(page.messages()).toEqual([QUESTION, WAITING]);
    } finally {
      page.close();
    }
  });

  /** A page on a server whose replies all end with this failure; `asked` has what was sent. */
  async function openFailing(
    failure: Error | string,
    options: {
      messages: UIMessage[];
      loadSnapshot?: UseHelixChatOptions<UIMessage>['loadSnapshot'];
    },
  ) {
    const asked: unknown[] = [];
    const transport: ChatTransport<UIMessage> = {
      sendMessages: async ({ trigger, messageId }) => {
        asked.push([trigger, messageId]);
        if (typeof failure !== 'string') throw failure;
        return new ReadableStream({
          start: (controller) => {
            controller.enqueue({ type: 'error', errorText: failure });
            controller.close();
          },
        });
      },
      reconnectToStream: async () => null,
    };
    const all = { id: 'chat-1', transport, ...options };
    const hook = renderHook(({ round }: { round: number }) => ({ ...useHelixChat(all), round }), {
      round: 0,
    });
    unmount = hook.unmount;
    await untilShown(hook);
    const untilFailed = (times: number): Promise<unknown> =>
      until('it has failed', () => asked.length === times && hook.current.status === 'error');
    return { hook, asked, untilFailed };
  }

  const located = { type: 'dynamic-tool', toolName: 'locate', toolCallId: 'c1' } as const;
  const answered = { ...located, state: 'output-available', input: {}, output: 'Rome' } as const;
  const ANSWERED: UIMessage = { ...WAITING, parts: [{ type: 'step-start' }, answered] };
  const sent = ['submit-message', 'msg-1'];
  it.each([
    ['repeats a turn that failed', 'The model is away.', ANSWERED, ['regenerate-message']],
    ['repeats no turn', Object.assign(new Error('No.'), { statusCode: 500 }), WAITING, undefined],
    ['repeats no turn without a network', new TypeError('Failed to fetch'), WAITING, undefined],
    ['repeats no turn that was cut', BROKEN_OFF, WAITING, undefined],
    ['repeats no turn that was withdrawn', new ReplyBrokenError('withdrawn'), WAITING, undefined],
    ['repeats no turn after a code', new Error('{"code":"internal_error"}'), WAITING, undefined],
  ])('a retry behind a question %s', async (_, failure, reply, again) => {
    const { hook, asked, untilFailed } = await openFailing(failure, {
      messages: [QUESTION, reply],
    });
    void hook.current.sendMessage();
    await untilFailed(1);
    await hook.current.retry();
    expect(asked).toEqual(again === undefined ? [sent] : [sent, [again[0], again[1]]]);
  });

  it.each([
    ['failed', ['regenerate-message', undefined]],
    ['paused', sent],
  ] as const)('a retry after an unknown error asks the server: %s', async (status, again) => {
    const messages = [QUESTION, ANSWERED];
    const { hook, asked, untilFailed } = await openFailing(new Error('Bad Gateway'), {
      messages,
      loadSnapshot: async () => ({ status, messages }),
    });
    void hook.current.sendMessage();
    await untilFailed(1);
    void hook.current.retry();
    await untilFailed(2);
    expect(asked).toEqual([sent, again]);
  });

  it.each([
    ['failed', 'error'],
    ['ended', 'ready'],
  ] as const)('a refresh shows the failure of a run that has %s', async (status, shown) => {
    const messages = [QUESTION];
    const { hook, untilFailed } = await openFailing('The model is away.', {
      messages,
      loadSnapshot: async () => ({ status, messages }),
    });
    void hook.current.regenerate();
    await untilFailed(1);
    expect(await hook.current.refresh()).toBe(true);
    // React commits what has changed before it renders again.
    hook.render({ round: 1 });
    await until('it is shown', () => hook.current.round === 1);
    expect(hook.current.status).toBe(shown);
  });

  it('a refresh sends an answer that the server never got', async () => {
    const messages = [QUESTION, WAITING];
    const { hook, asked, untilFailed } = await openFailing(new TypeError('Failed to fetch'), {
      messages,
      loadSnapshot: async () => ({ status: 'paused', messages }),
    });
    await hook.current.addToolApprovalResponse({ id: 'r::c1', approved: true });
    await untilFailed(1);
    await hook.current.refresh();
    await untilFailed(2);
    expect(asked[1]).toEqual(asked[0]);
  });

  it('a refresh keeps the lasting refusal of an answer', async () => {
    const messages = [QUESTION, WAITING];
    const refusal = new ChatRequestError(400, '{"code":"invalid_result"}');
    const { hook, asked, untilFailed } = await openFailing(refusal, {
      messages,
      loadSnapshot: async () => ({ status: 'paused', messages }),
    });
    await hook.current.addToolApprovalResponse({ id: 'r::c1', approved: true });
    await untilFailed(1);
    await hook.current.refresh();
    await hook.current.refresh();
    expect([asked.length, hook.current.error]).toEqual([1, refusal]);
  });

  it.each([
    ['own', (body: string) => new ChatRequestError(409, body)],
    ['stock', (body: string) => new Error(body)],
  ])('a retry sends a lost edit as an edit: %s transport', async (_, refuse) => {
    const conflict = refuse('{"code":"message_conflict"}');
    const { hook, asked, untilFailed } = await openFailing(conflict, { messages: [QUESTION] });
    void hook.current.sendMessage({ ...QUESTION, id: 'u2' });
    await untilFailed(1);
    await hook.current.retry();
    expect(asked).toEqual([
      ['submit-message', undefined],
      ['submit-message', 'u2'],
    ]);
  });

  it('a refresh shows nothing of a conversation that the page has left', async () => {
    const loading: Record<string, () => void> = {};
    const loadSnapshot = async (id: string) => {
      await new Promise<void>((resolve) => (loading[id] = resolve));
      return { status: 'ended' as const, messages: [QUESTION] };
    };
    const page = renderHook(({ id }: { id: string }) => useHelixChat({ id, loadSnapshot }), {
      id: 'chat-1',
    });
    unmount = page.unmount;
    const refreshed = (await untilShown(page)).refresh();
    await until('it loads', () => loading['chat-1'] !== undefined);
    page.render({ id: 'chat-2' });
    await until('the other is shown', () => page.current.id === 'chat-2');
    loading['chat-1']?.();
    expect(await refreshed).toBe(false);
    expect(page.current.messages).toEqual([]);
  });

  it('a page resumes a reply in strict mode too, which mounts it twice', async () => {
    const page = await openHookPage(useHelixChat, {
      ...target,
      messages: [QUESTION],
      resume: true,
      isStrict: true,
      send: async (_input, init) => {
        // A request takes a moment, in which strict mode takes the page away and brings it back.
        await new Promise((resolve) => setTimeout(resolve, 20));
        return streamOf(
          [
            { type: 'start', messageId: 'msg-1' },
            { type: 'start-step' },
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Hello.' },
            { type: 'text-end', id: 't' },
            { type: 'finish-step' },
            { type: 'finish', finishReason: 'stop' },
          ],
          init?.signal,
        );
      },
    });
    try {
      await until('the reply is shown', () => page.reply() === 'Hello.');
    } finally {
      page.close();
    }
  });

  it('a page waits longer each time before it follows a reply that is withdrawn repeatedly', async () => {
    const followedAt: number[] = [];
    const transport = createBreaking(followedAt);
    const loadSnapshot = async () => ({ status: 'active' as const, messages: [QUESTION] });
    const page = renderHook(
      () => useHelixChat({ id: 'chat-1', transport, resume: true, loadSnapshot }),
      undefined,
    );
    unmount = page.unmount;
    await until('the reply is followed five times', () => followedAt.length >= 5);
    const [, second = 0, third = 0, fourth = 0, fifth = 0] = followedAt;
    // At least 0.2, 0.4 and 0.8 s, less the grain of the clocks.
    expect(third - second).toBeGreaterThan(190);
    expect(fourth - third).toBeGreaterThan(390);
    expect(fifth - fourth).toBeGreaterThan(790);
  });

  it('a page follows a broken reply when the network is back, until it is left', async () => {
    const followedAt: number[] = [];
    let loads = 0;
    const loadSnapshot = async () => {
      loads += 1;
      return { status: 'active' as const, messages: [QUESTION] };
    };
    const transport = createBreaking(followedAt, 'unreachable');
    const page = renderHook(
      () => useHelixChat({ id: 'chat-1', transport, resume: true, loadSnapshot }),
      undefined,
    );
    unmount = page.unmount;
    const browser = openDocument();
    const online = (): unknown => browser.dispatchEvent(new browser.Event('online'));
    await until('it has broken off', () => followedAt.length > 0 && page.current.error);
    const before = loads;
    await until('it is followed again', () => {
      online();
      return loads > before;
    });
    await until('it has broken off again', () => followedAt.length > 1 && page.current.error);
    page.unmount();
    await new Promise((resolve) => setTimeout(resolve));
    const left = loads;
    online();
    await new Promise((resolve) => setTimeout(resolve));
    expect(loads).toBe(left);
  });
});
