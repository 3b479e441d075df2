import type { ChatTransport, UIMessage } from 'ai';
import { ReplyBrokenError } from '../../../ai-sdk/client/index.js';
import { HOOKS } from '../../support/hook-page.js';
import { renderHook } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

const QUESTION: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Refund?' }] };

let unmount: (() => void) | undefined;
afterEach(() => {
  unmount?.();
});

/** A server that withdraws each reply; `followedAt` has the times at which one was followed. */
function createWithdrawing(followedAt: number[]): ChatTransport<UIMessage> {
  const withdraw = (): Promise<ReadableStream<never>> => {
    followedAt.push(Date.now());
    const cancelled = new ReadableStream<never>({
      start: (controller) => {
        controller.error(new ReplyBrokenError('withdrawn'));
      },
    });
    return Promise.resolve(cancelled);
  };
  return { sendMessages: withdraw, reconnectToStream: withdraw };
}

describe.each(HOOKS)('useHelixChat on %s', (_, useHelixChat) => {
  it('a page waits longer each time before it follows a reply that is withdrawn repeatedly', async () => {
    const followedAt: number[] = [];
    const transport = createWithdrawing(followedAt);
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
});
