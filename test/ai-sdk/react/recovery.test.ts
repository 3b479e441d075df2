import type { ChatMessage } from '../../../ai-sdk/client/index.js';
import {
  useCheckpointSnapshot,
  useResumableChat,
  useAutoResync,
  useResyncState,
  useStreamData,
  useStreamResync,
} from '../../../ai-sdk/react/index.js';
import { renderHook, untilShown, type RenderedHook } from '../../support/render-hook.js';
import { until } from '../../support/until.js';

const rendered: { unmount: () => void }[] = [];

afterEach(() => {
  for (const hook of rendered.splice(0)) hook.unmount();
});

function show<P, R>(useHook: (props: P) => R, props: P): RenderedHook<P, R> {
  const hook = renderHook(useHook, props, { isStrict: true });
  rendered.push(hook);
  return hook;
}

const resync = (fromSequence: number): { type: string; data: object } => ({
  type: 'data-stream-resync',
  data: {
    checkpointId: null,
    stepCount: 1,
    messageCount: 1,
    fromSequence,
    reason: 'crash_recovery',
  },
});

/** A server with a snapshot that grows by one message with every look. */
function createServer(): { fetch: typeof globalThis.fetch; urls: string[] } {
  const urls: string[] = [];
  return {
    urls,
    fetch: async (url) => {
      urls.push(url as string);
      const messages = urls.map((_url, at) => ({ id: `m${String(at)}`, role: 'user', parts: [] }));
      return Response.json({ messages, status: 'ended' });
    },
  };
}

describe('what a stream says beside its messages', () => {
  it('the hook calls back once for each resync, from a list or by callback', async () => {
    const resyncs: number[] = [];
    const note = ({ data }: { data: { fromSequence: number } }): unknown =>
      resyncs.push(data.fromSequence);
    const listed = show(
      (data: readonly unknown[]) => useStreamResync(data, note),
      [] as readonly unknown[],
    );
    await untilShown(listed);
    listed.render([null, { type: 'data-note', data: 1 }, resync(3)]);
    await until('it is called', () => resyncs.length === 1);
    // The same one again, as a replay brings it, and another.
    listed.current.onData(resync(3));
    listed.current.onData(resync(5));
    expect(resyncs).toEqual([3, 5]);
    const alone = show(() => useStreamResync(note), undefined);
    (await untilShown(alone)).onData(resync(7));
    expect(resyncs).toEqual([3, 5, 7]);
    // Two replies that broke off as their reader's token expired.
    const expired = [resync(0), resync(0)];
    listed.render(expired);
    await until('both are reported', () => resyncs.length === 5);
    listed.render(expired);
    expect(resyncs).toEqual([3, 5, 7, 0, 0]);
  });

  it('the hook collects stream data for hooks that take a list', async () => {
    const hook = show(() => {
      const { data, onData } = useStreamData();
      return { data, onData, state: useResyncState(data) };
    }, undefined);
    const { onData } = await untilShown(hook);
    for (let at = 0; at < 120; at += 1) onData({ type: 'data-note', data: at });
    onData(resync(3));
    await until('it is counted', () => hook.current.state.resyncCount === 1);
    expect(hook.current.data).toHaveLength(100);
    expect(hook.current.state).toMatchObject({ hasResynced: true, lastResync: resync(3) });
  });
});

describe('a page with a snapshot', () => {
  const snapshotUrl = '/api/chat/s1/snapshot';

  it('a page loads the messages when it opens, and after each resync', async () => {
    const { fetch, urls } = createServer();
    let shown: ChatMessage[] = [];
    const loaded: string[] = [];
    const events: unknown[] = [];
    const hook = show(
      (data: readonly unknown[]) =>
        useResumableChat<ChatMessage>(data, {
          snapshotUrl,
          fetch,
          setMessages: (messages) => (shown = messages),
          onSnapshotLoaded: ({ status }) => loaded.push(status),
          onResync: (event) => events.push(event),
        }),
      [] as readonly unknown[],
    );
    expect((await untilShown(hook)).isLoading).toBe(true);
    await until('it is loaded', () => !hook.current.isLoading);
    const before = urls.length;
    expect(shown).toHaveLength(before);
    expect(hook.current).toMatchObject({ hasResynced: false, resyncCount: 0 });
    hook.render([resync(3)]);
    await until('it is loaded again', () => shown.length === before + 1);
    await until('it is counted', () => hook.current.hasResynced);
    expect(hook.current.snapshot?.messages).toEqual(shown);
    expect(events).toEqual([resync(3)]);
    expect(loaded.at(-1)).toBe('ended');
  });

  it('a page with messages loads a snapshot on a resync only', async () => {
    const { fetch, urls } = createServer();
    let shown: ChatMessage[] = [];
    const setMessages = (messages: ChatMessage[]): unknown => (shown = messages);
    const hook = show(() => useAutoResync({ snapshotUrl, fetch, setMessages }), undefined);
    const { onData, isLoading } = await untilShown(hook);
    expect([isLoading, urls]).toEqual([false, []]);
    onData(resync(3));
    await until('it is loaded', () => shown.length === 1);
  });

  it('a page reports a missing snapshot', async () => {
    const fetch = (): Promise<Response> =>
      Promise.resolve(Response.json({ error: 'no', code: 'not_found' }, { status: 404 }));
    const hook = show(
      () => useResumableChat({ snapshotUrl, fetch, setMessages: () => undefined }),
      undefined,
    );
    await untilShown(hook);
    await until('it has failed', () => hook.current.error !== undefined);
    expect(hook.current).toMatchObject({ isLoading: false, error: { code: 'not_found' } });
  });

  it('a page does not wait for the snapshot of a checkpoint that it shows no more', async () => {
    const fetch = () => new Promise<Response>(() => undefined);
    const hook = show(
      (checkpointId: string | undefined) =>
        useCheckpointSnapshot({ snapshotUrl, checkpointId, fetch }),
      undefined as string | undefined,
    );
    await untilShown(hook);
    hook.render('cpv1-s1-s2-x');
    await until('it waits', () => hook.current.isLoading);
    hook.render(undefined);
    await until('it does not wait', () => !hook.current.isLoading);
  });

  it('a page loads the snapshot of a checkpoint once it has an id', async () => {
    const { fetch, urls } = createServer();
    const hook = show(
      (checkpointId: string | undefined) =>
        useCheckpointSnapshot({ snapshotUrl, checkpointId, fetch }),
      undefined as string | undefined,
    );
    await untilShown(hook);
    expect(urls).toEqual([]);
    hook.render('cpv1-s1-s2-x');
    await until('it is loaded', () => hook.current.snapshot !== undefined);
    expect(urls.at(-1)).toBe(`${snapshotUrl}?checkpointId=cpv1-s1-s2-x`);
  });
});
