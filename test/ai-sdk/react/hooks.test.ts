import { useSessionEvents } from '../../../ai-sdk/react/index.js';
import type { SessionEvent } from '../../../protocol/replies.js';
import { loadSnapshot, toScript } from '../../support/chat-client.js';
import { toComparable } from '../../support/compare-messages.js';
import {
  HOOKS,
  loadHookPage,
  openHookPage,
  type HookPage,
  type HookPageOptions,
} from '../../support/hook-page.js';
import { charge } from '../../support/lab-calls.js';
import { postJson } from '../../support/post-json.js';
import { useLocalProduct } from '../../support/local-product.js';
import { newSessionId } from '../../support/product.js';
import { renderHook } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

const product = useLocalProduct();
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
    // The second page never had to wait for the first page's lease.
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
    // The retry fails in a run of its own, and only one reply remains.
    const again = await loadSnapshot(product.url, sessionId);
    expect(again.run?.runId).not.toBe(run?.runId);
    expect(page.requests).toEqual(['POST', 'POST']);
    await expectStored(page, sessionId);
  });
});

it.each(HOOKS)(
  '%s at rest learns of an answer that was given elsewhere',
  async (_name, useHelixChat) => {
    const { url } = product;
    const { page, sessionId } = await open(useHelixChat, { resume: false });
    await page.chat.sendMessage(toScript({ calls: [charge('c1')] }, { say: 'Charged.' }));
    await page.rests();

    const seen: SessionEvent[] = [];
    let isBroken = false;
    const breaking: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (isBroken || response.body === null) return response;
      isBroken = true;
      // The first connection gives one event and breaks.
      const reader = response.body.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      let isGiven = false;
      const body = new ReadableStream({
        pull: (controller) => {
          if (isGiven) controller.error(new TypeError('network error'));
          else controller.enqueue(value);
          isGiven = true;
        },
      });
      return new Response(body, { status: response.status });
    };
    const followed = renderHook(useSessionEvents, {
      eventsUrl: `${url}/api/chat/${sessionId}/events`,
      fetch: breaking,
      retryDelayMs: () => 10,
      onEvent: (event: SessionEvent) => seen.push(event),
    });
    await until('two connections have sent the status', () => seen.length >= 2);
    expect(seen[0]).toMatchObject({ status: 'paused', pending: [{ toolCallId: 'c1' }] });

    await postJson(`${url}/api/chat/${sessionId}/pending/c1`, { approved: true });
    await until('the end', () => followed.current.event?.run.status === 'completed');
    expect(followed.current.event?.pending).toEqual([]);
    expect(followed.current.error).toBeUndefined();
    followed.unmount();
  },
);

it.each(HOOKS)(
  '%s with eventsUrl shows what another page begins, and what is answered elsewhere',
  async (_name, useHelixChat) => {
    const { url } = product;
    const sessionId = newSessionId();
    // The first page opens before the conversation exists; the other one loads it later.
    const eventsUrl = `${url}/api/chat/${sessionId}/events`;
    const { page } = await open(useHelixChat, { sessionId, eventsUrl });
    await page.chat.sendMessage(toScript({ say: 'First.' }));
    await page.rests();
    const { page: other } = await open(useHelixChat, { sessionId, eventsUrl, isLoaded: true });
    await other.chat.sendMessage(
      toScript(
        { say: 'Slowly.', deltas: 7, everyMs: 100, calls: [charge('c1')] },
        { say: 'Charged.' },
      ),
    );
    await until('the question is shown', () => page.reply() === 'Slowly.');
    await page.rests();
    await postJson(`${url}/api/chat/${sessionId}/pending/c1`, { approved: true });
    for (const each of [page, other]) {
      await until('the end is shown', () => each.reply().endsWith('Charged.'));
      await each.rests();
    }
    for (const each of [page, other]) await expectStored(each, sessionId);
    expect(page.requests.filter((method) => method === 'POST')).toEqual(['POST']);
  },
);
