import type { ChatTransport, UIMessage } from 'ai';
import { ReplyBrokenError } from '../../../ai-sdk/client/index.js';
import { HOOKS } from '../../support/hook-page.js';
import { openDocument } from '../../support/open-document.js';
import { renderHook } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

const QUESTION: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Refund?' }] };

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
