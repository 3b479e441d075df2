import fc from 'fast-check';
import { createChatFetch } from '../support/chat-fetch.js';
import { createStockChat, MAJORS, untilReady } from '../support/stock-chat.js';
import { nextTurn } from './recorded/next-turn.js';
import { createBridge } from './recorded/page.js';
import { createPlayer, type Player } from './recorded/play-changes.js';
import { readRecordedTurns, splitAppends } from './recorded/recorded-turns.js';
import { withoutLog } from './recorded/without-log.js';

const turns = readRecordedTurns().map(({ name, changes }) => ({
  name,
  changes: splitAppends(changes),
}));

const PROFILES = MAJORS.flatMap(([name, library]) => [
  { name, library, profile: 'common' },
  ...(name === 'ai 7' ? [{ name, library, profile: 'v7' }] : []),
]);

interface Attached {
  messages: object[];
  status: string;
  error: string | undefined;
}

describe.each(PROFILES)('$name, profile $profile', ({ library, profile }) => {
  it('a replay rebuilds from rows what the log would have sent, and continues live', async () => {
    const moments = fc.record({
      turn: fc.constantFrom(...turns),
      joinAt: fc.nat(1_000),
      loss: fc.nat(1_000),
    });
    await fc.assert(
      fc.asyncProperty(moments, async ({ turn: { changes }, joinAt, loss }) => {
        const count = 1 + (joinAt % changes.length);
        const whole = await attach(changes.length - count, changes, 0);
        expect(await attach(changes.length - count, changes, loss)).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  /** What a page has that joined with so many changes ahead, and stayed until the turn's next stop. */
  async function attach(
    ahead: number,
    changes: (typeof turns)[number]['changes'],
    loss: number,
  ): Promise<Attached> {
    const player = createPlayer(changes);
    while (player.ahead().length > ahead) await player.play();
    const { sessionId, store, streamManager } = player;
    const record = await store.sessions.read(sessionId);
    const start = record?.turnStartSequence ?? 0;
    const lost = start + (loss % ((await mostToLose(player)) - start + 1));
    const bridge = { ...createBridge(player), streamManager: withoutLog(streamManager, lost) };
    const { fetch, texts } = createChatFetch(bridge, {
      headers: { 'x-ai-sdk-profile': profile },
      caller: { userId: 'ann' },
      // As after a snapshot that was taken while the turn was active.
      sawActiveSince: start,
    });
    const chat = createStockChat(library, { id: sessionId, fetch });
    const reading = chat.resumeStream();
    if (record?.stream === 'active') {
      while (texts[0]?.includes('data: ') !== true) await nextTurn();
      while (player.ahead().length > 0) {
        const now = await store.sessions.read(sessionId);
        if (now?.stream !== 'active' || now.turn !== record.turn) break;
        await player.play();
        await nextTurn();
      }
    }
    await reading;
    await untilReady(chat);
    // The recordings are older than the mark of a cut reply in the log.
    const messages = chat.messages.map((message) => ({
      ...message,
      metadata: { ...(message.metadata as object | undefined), helixInterrupted: undefined },
    }));
    return { messages, status: chat.status, error: chat.error?.message };
  }
});

/** The newest sequence of the turn that may be gone; never any of the step that is being written. */
async function mostToLose({ sessionId, store, streamManager }: Player): Promise<number> {
  const { committedStep = 0, turnStartSequence = 0 } = (await store.sessions.read(sessionId)) ?? {};
  const entries = await streamManager.read(sessionId, turnStartSequence, 1_000);
  const running = entries.find(({ message }) => 'step' in message && message.step > committedStep);
  return (running?.sequence ?? (entries.at(-1)?.sequence ?? turnStartSequence) + 1) - 1;
}
