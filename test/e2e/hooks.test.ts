import { callsOf, loadSnapshot, toScript } from '../support/chat-client.js';
import { toComparable } from '../support/compare-messages.js';
import {
  HOOKS,
  loadHookPage,
  openHookPage,
  type HookPage,
  type HookPageOptions,
} from '../support/hook-page.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();
const pages: HookPage[] = [];

afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

type UseChat = (typeof HOOKS)[number][1];
type OpenOptions = Partial<HookPageOptions> & { isLoaded?: boolean };

async function open(useHelixChat: UseChat, options: OpenOptions = {}) {
  const { isLoaded = false, sessionId = newSessionId(), ...rest } = options;
  const all = { url: product.url, sessionId, isStrict: true, ...rest };
  const page = await (isLoaded ? loadHookPage : openHookPage)(useHelixChat, all);
  pages.push(page);
  return { page, sessionId };
}

async function expectStored(page: HookPage, sessionId: string): Promise<void> {
  await page.rests();
  const { messages } = await loadSnapshot(product.url, sessionId);
  expect(toComparable(page.messages())).toEqual(toComparable(messages));
}

describe.each(HOOKS)('%s', (_name, useHelixChat) => {
  const locate = (id: string): object => ({ tool: 'locate', id, args: {} });

  it('the hook executes client tools in parallel, and posts their results once', async () => {
    const asked: string[] = [];
    const { page, sessionId } = await open(useHelixChat, {
      toolHandlers: {
        locate: (_input, { toolCallId }) => {
          asked.push(toolCallId);
          return { at: toolCallId };
        },
      },
    });
    const script = toScript({ calls: [locate('c1'), locate('c2')] }, { say: 'Found.' });
    await page.chat.sendMessage(script);
    await until('it is found', () => page.reply().includes('Found.'));
    await page.rests();
    expect(asked).toEqual(['c1', 'c2']);
    expect(page.requests).toEqual(['POST', 'POST']);
    expect(callsOf(page.messages()[1]).map(({ output }) => output)).toEqual([
      { at: 'c1' },
      { at: 'c2' },
    ]);
    await expectStored(page, sessionId);
  });

  it('the model learns of a handler that fails', async () => {
    const failures: unknown[] = [];
    const { page, sessionId } = await open(useHelixChat, {
      toolHandlers: {
        locate: () => {
          throw new Error('no permission');
        },
      },
      onClientToolError: (error) => failures.push(error),
    });
    await page.chat.sendMessage(toScript({ calls: [locate('c1')] }, { say: 'So be it.' }));
    await until('it continues', () => page.reply().includes('So be it.'));
    await page.rests();
    expect(callsOf(page.messages()[1])).toMatchObject([
      { state: 'output-error', errorText: 'no permission' },
    ]);
    expect(failures).toEqual([new Error('no permission')]);
    await expectStored(page, sessionId);
  });

  it('the hook posts once for an approval beside a client tool, when both are answered', async () => {
    const { page, sessionId } = await open(useHelixChat, {
      toolHandlers: { locate: () => 'here' },
    });
    const charge = { tool: 'charge', id: 'c2', args: { amount: 5 } };
    await page.chat.sendMessage(toScript({ calls: [locate('c1'), charge] }, { say: 'Charged.' }));
    const id = await until('it is asked', () => {
      const part = callsOf(page.messages().at(-1)).find(
        ({ state }) => state === 'approval-requested',
      );
      return page.chat.status === 'ready' ? part?.approval?.id : undefined;
    });
    await until('the tool is done', () =>
      callsOf(page.messages().at(-1)).some(({ state }) => state === 'output-available'),
    );
    await page.rests();
    expect(page.requests).toEqual(['POST']);
    await page.chat.addToolApprovalResponse({ id, approved: true });
    await until('it is charged', () => page.reply().includes('Charged.'));
    await page.rests();
    expect(page.requests).toEqual(['POST', 'POST']);
    await expectStored(page, sessionId);
  });

  it('the hook executes a client tool that waited when the page was loaded', async () => {
    const { page: first, sessionId } = await open(useHelixChat);
    await first.chat.sendMessage(toScript({ calls: [locate('c1')] }, { say: 'Found.' }));
    await first.rests();
    first.close();
    const { page } = await open(useHelixChat, {
      sessionId,
      isLoaded: true,
      toolHandlers: { locate: () => 'here' },
    });
    await until('it is found', () => page.reply().includes('Found.'));
    await page.rests();
    expect(page.requests.filter((method) => method === 'POST')).toEqual(['POST']);
    await expectStored(page, sessionId);
  });

  it('one of two pages executes a client tool', async () => {
    const done: string[] = [];
    let end: (() => void) | undefined;
    const work = (name: string) => ({
      locate: async () => {
        done.push(name);
        await new Promise<void>((resolve) => (end = resolve));
        return name;
      },
    });
    const { page: first, sessionId } = await open(useHelixChat, { toolHandlers: work('first') });
    await first.chat.sendMessage(toScript({ calls: [locate('c1')] }, { say: 'Found.' }));
    await until('one page works', () => done.length === 1);
    const { page: second } = await open(useHelixChat, {
      sessionId,
      isLoaded: true,
      toolHandlers: work('second'),
    });
    await until('the other asks', () => second.leases.length > 0);
    await second.rests();
    end?.();
    await until('it is found', () => first.reply().includes('Found.'));
    expect(done).toEqual(['first']);
    await expectStored(first, sessionId);
  });

  it('the page that is loaded next executes a client tool at once', async () => {
    const done: string[] = [];
    const leases: string[] = [];
    const openPage = (name: string, options: { sessionId?: string; isLoaded?: boolean } = {}) =>
      open(useHelixChat, {
        ...options,
        toolHandlers: {
          locate: () => {
            done.push(name);
            return name === 'first' ? new Promise(() => undefined) : name;
          },
        },
        send: async (input, init) => {
          const response = await fetch(input, init);
          if ((input as string).endsWith('/lease')) {
            const { forMs } = JSON.parse(init?.body as string) as { forMs: number };
            leases.push(`${name} ${forMs === 0 ? 'gives' : 'asks'} ${String(response.status)}`);
          }
          return response;
        },
      });
    const { page: first, sessionId } = await openPage('first');
    await first.chat.sendMessage(toScript({ calls: [locate('c1')] }, { say: 'Found.' }));
    await until('it works', () => done.length === 1);
    window.dispatchEvent(new window.Event('pagehide'));
    await until('it is given back', () => leases.includes('first gives 200'));
    first.close();
    const { page: second } = await openPage('second', { sessionId, isLoaded: true });
    await until('it is found', () => second.reply().includes('Found.'));
    await second.rests();
    expect(done).toEqual(['first', 'second']);
    // It never had to wait for the other page's lease.
    expect(leases.filter((lease) => lease.startsWith('second'))).toEqual(['second asks 200']);
    await expectStored(second, sessionId);
  });

  it("a person's retry sends a refused message again", async () => {
    let isDown = true;
    const { page, sessionId } = await open(useHelixChat, {
      send: (input, init) =>
        isDown ? Promise.resolve(new Response('{}', { status: 500 })) : fetch(input, init),
    });
    await page.chat.sendMessage({ text: 'Hello' });
    await page.rests();
    expect(page.chat.status).toBe('error');
    isDown = false;
    await page.chat.retry();
    await page.rests();
    expect(page.chat.error).toBeUndefined();
    expect(page.messages()).toHaveLength(2);
    await expectStored(page, sessionId);
  });

  it("a person's retry repeats a failed turn", async () => {
    const { page, sessionId } = await open(useHelixChat);
    await page.chat.sendMessage(toScript({ say: 'half', fail: { status: 400, afterDeltas: 1 } }));
    await page.rests();
    expect(page.chat.status).toBe('error');
    expect(page.reply()).toBe('half');
    const { run } = await loadSnapshot(product.url, sessionId);
    await page.chat.retry();
    await page.rests();
    // It fails again, in a run of its own, and there is one reply.
    const again = await loadSnapshot(product.url, sessionId);
    expect(again.run?.runId).not.toBe(run?.runId);
    expect(page.requests).toEqual(['POST', 'POST']);
    await expectStored(page, sessionId);
  });
});

describe('the hooks, when a process is killed', () => {
  const script = toScript({ say: 'one two three four five six seven', deltas: 14, everyMs: 150 });

  /** A page of each hook whose agent talks. */
  async function talkAll() {
    const opened = HOOKS.map(async ([, useHelixChat]) => {
      const { page, sessionId } = await open(useHelixChat);
      await page.chat.sendMessage({ text: 'first' });
      const sent = page.chat.sendMessage(script);
      await until('it talks', () => page.reply().includes('one t'));
      return { page, sessionId, sent };
    });
    return Promise.all(opened);
  }

  it('resume after an API was killed, without a doubled or a lost word', async () => {
    const all = await talkAll();
    await product.kill9Api();
    await product.startApi();
    for (const { page, sessionId, sent } of all) {
      await sent;
      await page.rests();
      expect(page.chat.error).toBeUndefined();
      expect(page.requests.slice(0, 2)).toEqual(['POST', 'POST']);
      expect(page.requests.slice(2).every((method) => method === 'GET')).toBe(true);
      await expectStored(page, sessionId);
    }
  });

  it('reload the reply automatically when a worker died in the middle of it', async () => {
    const all = await talkAll();
    await product.kill9Worker();
    await product.startWorker();
    for (const { page, sessionId, sent } of all) {
      await sent;
      await until('the reply is complete', () => page.reply().includes('seven'), 30_000);
      await page.rests();
      expect(page.chat.error).toBeUndefined();
      await expectStored(page, sessionId);
    }
  });
});
