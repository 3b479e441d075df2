import { useSessionEvents } from '../../ai-sdk/react/index.js';
import type { SessionEvent } from '../../protocol/http.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { HOOKS, loadHookPage, openHookPage } from '../support/hook-page.js';
import { toComparable } from '../support/compare-messages.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, useProduct } from '../support/product.js';
import { renderHook } from '../support/render-hook.js';
import { until } from '../support/until.js';

const product = useProduct();

it.each(HOOKS)(
  '%s at rest learns of an answer that was given elsewhere',
  async (_name, useHelixChat) => {
    const { url } = product;
    const sessionId = newSessionId();
    const page = await openHookPage(useHelixChat, { url, sessionId, resume: false });
    const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
    await page.chat.sendMessage(toScript({ calls: [charge] }, { say: 'Charged.' }));
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
    page.close();
  },
  60_000,
);

it.each(HOOKS)(
  '%s with eventsUrl shows what another page begins, and what is answered elsewhere',
  async (_name, useHelixChat) => {
    const { url } = product;
    const sessionId = newSessionId();
    // The first page opens before the conversation exists; the other one loads it later.
    const eventsUrl = `${url}/api/chat/${sessionId}/events`;
    const page = await openHookPage(useHelixChat, { url, sessionId, isStrict: true, eventsUrl });
    await page.chat.sendMessage(toScript({ say: 'First.' }));
    await page.rests();
    const other = await loadHookPage(useHelixChat, { url, sessionId, eventsUrl });
    const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
    await other.chat.sendMessage(
      toScript({ say: 'Slowly.', deltas: 7, everyMs: 100, calls: [charge] }, { say: 'Charged.' }),
    );
    await until('the question is shown', () => page.reply() === 'Slowly.');
    await page.rests();
    await postJson(`${url}/api/chat/${sessionId}/pending/c1`, { approved: true });
    for (const each of [page, other]) {
      await until('the end is shown', () => each.reply().endsWith('Charged.'));
      await each.rests();
    }
    const { messages } = await loadSnapshot(url, sessionId);
    expect(toComparable(page.messages())).toEqual(toComparable(messages));
    expect(toComparable(other.messages())).toEqual(toComparable(messages));
    expect(page.requests.filter((method) => method === 'POST')).toEqual(['POST']);
    page.close();
    other.close();
  },
  60_000,
);
