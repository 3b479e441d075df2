import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { readUIMessageStream as readOfSix } from 'ai-v6';
import { StreamTransformer } from '../../ai-sdk/index.js';
import { toAllMessages } from '../../ai-sdk/turns/ui-history.js';
import type { ActivityHarness } from '../support/activity-harness.js';
import { plain } from './compare-prompts.js';

/** What a page has at the end, live and after a reload, in both versions. */
export async function expectSameOnPages(harness: ActivityHarness): Promise<UIMessage> {
  const { id } = harness.session;
  const view = await harness.stores.store.sessions.view(id);
  if (view === undefined) throw new Error('no session');
  const [, stored] = toAllMessages(view);
  const transformer = new StreamTransformer({
    agentId: id,
    generateMessageId: () => view.record.messageId,
  });
  const entries = (await harness.session.log()).filter(
    ({ message }) => message.type !== 'stream_status',
  );
  const events = entries.flatMap((entry) => transformer.transform(entry).events);
  events.push(...transformer.finalize().events);
  for (const read of [readUIMessageStream, readOfSix as unknown as typeof readUIMessageStream]) {
    const stream = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        for (const event of events) controller.enqueue(event);
        controller.close();
      },
    });
    let live: UIMessage | undefined;
    for await (const state of read({ stream })) live = state;
    const kept = (message: unknown): unknown =>
      plain({ ...(message as UIMessage), parts: withoutOwn((message as UIMessage).parts) });
    expect(kept(live)).toEqual(kept(stored));
  }
  return stored as UIMessage;
}

/** What clients keep for themselves. */
function withoutOwn(all: UIMessage['parts']): object[] {
  return all.map((part) =>
    Object.fromEntries(
      Object.entries(part).filter(
        ([key]) =>
          !['rawInput', 'state', 'id'].includes(key) ||
          (part.type === 'dynamic-tool' && key === 'state'),
      ),
    ),
  );
}
