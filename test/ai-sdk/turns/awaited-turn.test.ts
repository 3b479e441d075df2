import { createAwaitedFrames } from '../../../ai-sdk/turns/awaited-turn.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { drive, newSessionId } from '../../support/session-driver.js';

/** Opens a session whose run speaks while a message waits, and the response to that message. */
async function openWaiting() {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const { writer } = await session.claimed();
  await session.say(writer, 1, 'earlier');
  const queued = await session.enqueue('u2');
  const after = queued.kind === 'queued' ? queued.sequence : 0;
  const awaited = { sessionId: session.id, messageIds: ['u2'], after };
  const frames = createAwaitedFrames(
    { stateStore: stores.store, streamManager: stores.streamManager },
    awaited,
    { profile: 'common' },
    new AbortController().signal,
  );
  const { value: first } = await frames.next();
  const rest = async () => {
    let text = '';
    for await (const frame of frames) text += frame;
    return parseFrames(text).map(({ part }) => part);
  };
  return { ...stores, session, writer, first, rest };
}

describe('the response to a message that waits', () => {
  it('begins at once, and has the whole of its turn and nothing of the one before', async () => {
    const { session, store, writer, first, rest } = await openWaiting();
    expect(first).toBe(': waiting\n\n');
    const parts = rest();
    await session.enqueue('u3');
    await store.queue.remove({ sessionId: session.id, messageId: 'u3', now: 1 });
    await session.say(writer, 2, ' and more');
    await session.commit(writer);
    const begun = await session.beginNext();
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    const next = session.writer(begun.run.runId, 1, 1);
    await session.claim(next);
    for (const [n, word] of ['the ', 'reply'].entries()) await session.say(next, n + 1, word);
    await session.commit(next);
    const shown = await parts;
    expect(shown[0]).toEqual({ type: 'start', messageId: begun.run.messageId });
    expect(shown.map((part) => ('delta' in part ? part.delta : '')).join('')).toBe('the reply');
    expect(shown.at(-1)).toMatchObject({ type: 'finish' });
  });

  it.each<[string, (opened: Awaited<ReturnType<typeof openWaiting>>) => Promise<unknown>]>([
    ['is removed', ({ store, session }) => store.queue.remove({ sessionId: session.id, now: 1 })],
    ['is erased with its session', ({ store, session }) => store.sessions.erase(session.id)],
  ])('ends without a reply if it %s', async (_, act) => {
    const opened = await openWaiting();
    const parts = opened.rest();
    await act(opened);
    expect(await parts).toEqual([{ type: 'finish', finishReason: 'other' }]);
  });
});
