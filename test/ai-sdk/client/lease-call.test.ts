import { createCallLease } from '../../../ai-sdk/client/lease-call.js';
import { toPatience } from '../../../ai-sdk/client/patience.js';
import { until } from '../../support/until.js';

it('a page holds its lease for as long as its tool works, also over a failed request', async () => {
  const leases: number[] = [];
  const waits: { ms: number; end: () => void }[] = [];
  const lease = createCallLease(
    {
      lease: async (_session, _call, lease) => {
        const { forMs } = lease as { forMs: number };
        leases.push(forMs);
        if (leases.length === 4) throw new TypeError('fetch failed');
        return Promise.resolve();
      },
    },
    toPatience({}),
    (ms, signal) =>
      new Promise((resolve, reject) => {
        const end = (): void => {
          if (signal?.aborted === true) reject(new Error('over'));
          else resolve();
        };
        waits.push({ ms, end });
      }),
  );
  const tool = new AbortController();
  const call = { toolName: 'locate', toolCallId: 'c1', sessionId: 's1' };
  expect(await lease({ ...call, abortSignal: tool.signal })).toBe(true);
  // Half a minute of work: each renewal comes long before the lease is over.
  let workedMs = 0;
  while (workedMs < 30_000) {
    const next = await until('it waits', () => waits.shift());
    expect(next.ms * 2).toBeLessThan(leases.at(-1) ?? 0);
    workedMs += next.ms;
    next.end();
  }
  const last = await until('it has renewed', () => waits.shift());
  expect(leases).toHaveLength(1 + Math.ceil(30_000 / last.ms));
  tool.abort();
  last.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect([waits, leases.length]).toEqual([[], 1 + Math.ceil(30_000 / last.ms)]);
});

it('a page that is left gives the lease back while its tool works, and nothing after that', async () => {
  const page = new EventTarget();
  const given: number[] = [];
  const lease = createCallLease(
    {
      lease: async (_session, _call, { forMs }: { forMs: number }) => void given.push(forMs),
    } as Parameters<typeof createCallLease>[0],
    toPatience({}),
    () => new Promise(() => undefined),
  );
  const listen = page.addEventListener.bind(page);
  const before = Object.getOwnPropertyDescriptor(globalThis, 'addEventListener');
  Object.defineProperty(globalThis, 'addEventListener', { value: listen, configurable: true });
  try {
    const tool = new AbortController();
    const call = { toolName: 'locate', toolCallId: 'c1', sessionId: 's1' };
    await lease({ ...call, abortSignal: tool.signal });
    page.dispatchEvent(new Event('pagehide'));
    expect(given).toEqual([9_000, 0]);
    tool.abort();
    page.dispatchEvent(new Event('pagehide'));
    expect(given).toEqual([9_000, 0]);
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, 'addEventListener');
    else Object.defineProperty(globalThis, 'addEventListener', before);
  }
});
