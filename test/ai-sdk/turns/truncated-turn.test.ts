import { createTurnFrames } from '../../../ai-sdk/turns/turn-frames.js';
import { StreamBrokenError } from '../../../ai-sdk/parts/errors.js';
import { toLastFrames } from '../../../ai-sdk/parts/sse.js';
import type { TurnSpan } from '../../../ai-sdk/turns/turn-progress.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { drive } from '../../support/session-driver.js';

it('a turn that was truncated cuts those who watched, and replays to those who come later', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId, messageId } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'withdrawn');
  const view = async (): Promise<ReturnType<typeof createTurnFrames>> => {
    const { stream = 'active', sequence = 0 } =
      (await stores.store.sessions.read(session.id)) ?? {};
    const span: TurnSpan = {
      sessionId: session.id,
      messageId,
      from: 0,
      until:
        stream === 'active'
          ? { kind: 'live', after: sequence }
          : { kind: 'stored', upTo: sequence },
      isTail: false,
      profile: 'common',
    };
    return createTurnFrames(stores.streamManager, span, new AbortController().signal);
  };

  const early = await view();
  let seen = '';
  while (!seen.includes('withdrawn')) seen += (await early.next()).value ?? '';
  expect(await stores.streamManager.cleanupToStep(session.id, 0)).toBe(1);
  const broken: unknown = await early.next().catch((error: unknown) => error);
  expect(broken).toBeInstanceOf(StreamBrokenError);
  const last = toLastFrames(broken);
  expect(last).toContain('"type":"data-stream-resync"');
  expect(last).toContain('"transient":true');
  expect(last).not.toContain('id: ');

  const atOnce = await view();
  await session.say(writer, 2, 'kept');
  await session.commit(writer);
  for (const later of [atOnce, await view()]) {
    let frames = '';
    for await (const text of later) frames += text;
    const deltas = parseFrames(frames).map(({ part }) => ('delta' in part ? part.delta : ''));
    expect(deltas.join('')).toBe('kept');
  }
});
