import { checkForwarded } from '../../../activities/tool/call-context.js';
import { runRemotely } from '../../../extensions/remote/run-remotely.js';
import type { RemoteAgentTransport } from '../../../extensions/remote/remote-transport.js';
import type { ToolContext } from '../../../agents/index.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import type { WireEvent } from '../../../protocol/wire-events.js';

const tooDeep: unknown = JSON.parse('['.repeat(501) + ']'.repeat(501));
const base = { agentId: 'elsewhere', agentType: 'other', step: 1, timestamp: 1 };

describe('a remote server', () => {
  it('a remote run with chunks that cannot be stored is followed to its end, without them', async () => {
    const sent = ['a', tooDeep, 'x'.repeat(300 * 1024), 'b'].map((data): WireEvent => ({
      id: 1,
      event: { type: 'chunk', chunk: { type: 'custom', ...base, eventName: 'e', data } },
    }));
    let followed = 0;
    const transport: RemoteAgentTransport = {
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      async *follow() {
        followed += 1;
        yield* sent;
        yield await Promise.resolve<WireEvent>({
          id: 2,
          event: { type: 'end', finalOutput: tooDeep },
        });
      },
    };
    const forwarded: StreamChunk[] = [];
    const context = {
      agentId: 's',
      agentType: 'a',
      toolCallId: 'c',
      idempotencyKey: 'k',
      stepNumber: 1,
      abortSignal: new AbortController().signal,
      isHandedOver: () => false,
      showPreliminary: () => undefined,
      forward: (chunks: readonly StreamChunk[]) =>
        Promise.resolve().then(() => {
          forwarded.push(...checkForwarded('s', chunks));
        }),
    } as unknown as ToolContext;
    const call = { transport, agentType: 'other', message: 'do', unreachableMs: 0 };
    expect(await runRemotely(call, context)).toEqual(tooDeep);
    expect(followed).toBe(1);
    expect(forwarded).toMatchObject([
      { type: 'subagent_start' },
      { type: 'custom', data: 'a' },
      { type: 'custom', data: 'b' },
      { type: 'subagent_end', result: null },
    ]);
  });
});
