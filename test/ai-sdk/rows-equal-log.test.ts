import fc from 'fast-check';
import type { UIMessage } from '../../ai-sdk/index.js';
import { createChatFetch } from '../support/chat-fetch.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { FakeSession } from '../support/fake-session.js';
import { createStockChat, MAJORS, untilReady } from '../support/stock-chat.js';
import { turns, type Happening } from './fake-turn.js';
import { nextTurn } from './recorded/next-turn.js';

const MESSAGE = { role: 'user' as const, id: 'u1', parts: [{ type: 'text' as const, text: 'go' }] };

const PROFILES = MAJORS.flatMap(([name, library]) => [
  { name, library, profile: 'common' },
  ...(name === 'ai 7' ? [{ name, library, profile: 'v7' }] : []),
]);

interface Attached {
  messages: UIMessage[];
  status: string;
  error: string | undefined;
}

describe.each(PROFILES)('$name, profile $profile', ({ library, profile }) => {
  it('a replay rebuilds from rows what the log would have sent, and continues live', async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.nat(), fc.nat(), async (turn, moment, loss) => {
        const joinAt = moment % (turn.length + 1);
        const whole = await attach(turn, joinAt, () => undefined);
        const cut = await attach(turn, joinAt, (session) => {
          loseChunks(session, loss);
        });
        expect(cut).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  /** What a page has that joined at this moment and stayed until the turn's next stop. */
  async function attach(
    turn: Happening[],
    joinAt: number,
    prepare: (session: FakeSession) => void,
  ): Promise<Attached> {
    const runtime = createFakeRuntime();
    const session = new FakeSession('s1');
    runtime.sessions.set('s1', session);
    session.begin(MESSAGE);
    for (const happen of turn.slice(0, joinAt)) happen(session);
    prepare(session);
    // As after a snapshot that was taken while the turn was active.
    session.record.activeSnapshotTurn = 1;
    const { fetch, texts } = createChatFetch(runtime, { headers: { 'x-ai-sdk-profile': profile } });
    const chat = createStockChat(library, { id: 's1', fetch });
    const isLive = session.record.stream === 'active';
    const reading = chat.resumeStream();
    if (isLive) {
      while (texts[0]?.includes('data: ') !== true) await nextTurn();
      for (const happen of turn.slice(joinAt)) {
        happen(session);
        await nextTurn();
      }
    }
    await reading;
    await untilReady(chat);
    return { messages: chat.messages, status: chat.status, error: chat.error?.message };
  }
});

/** Removes the oldest chunks of the turn; never any of the step that is being written. */
function loseChunks({ entries, record }: FakeSession, seed: number): void {
  const running = entries.findIndex(
    ({ message }) => 'step' in message && message.step > record.committedStep,
  );
  const most = running < 0 ? entries.length : running;
  entries.splice(0, seed % (most + 1));
}
