import type { ChatTransport, UIMessage } from 'ai';
import fc from 'fast-check';
import { createResumableChatTransport } from '../../ai-sdk/client/index.js';
import { BROKEN_OFF } from '../../ai-sdk/parts/errors.js';
import { MAJORS } from '../support/stock-chat.js';
import { createBadLine, type LinePlan } from './recorded/bad-line.js';
import { nextTurn } from './recorded/next-turn.js';
import { createBridge, expectStored, loadPage, type Page } from './recorded/page.js';
import { createPlayer, type Player } from './recorded/play-changes.js';
import { readRecordedTurns, splitAppends, WITHDRAWN } from './recorded/recorded-turns.js';

/** Where another turn follows at once, a page that comes back without a position is given that one. */
const FOLLOWED = ['queued', 'steered'];

const turns = readRecordedTurns()
  .filter(({ name }) => !FOLLOWED.includes(name))
  .map(({ name, changes }) => ({ name, changes: splitAppends(changes) }));

/** How a turn is played beside a page, and the fate of the page's connections. */
interface Schedule {
  turn: (typeof turns)[number];
  /** Changes before the page is loaded, modulo those that there are. */
  loadedAt: number;
  /** Turns of the event loop between changes, over and over. */
  pace: number[];
  line: LinePlan;
}

const schedules = fc.record<Schedule>({
  turn: fc.constantFrom(...turns),
  loadedAt: fc.nat(1_000),
  pace: fc.array(fc.nat(6), { minLength: 1, maxLength: 6 }),
  line: fc.record({
    breaks: fc.array(fc.nat(600), { maxLength: 6 }),
    piece: fc.integer({ min: 1, max: 300 }),
  }),
});

/** Keeps a cursor, and continues behind it. */
const cursor = (fetch: typeof globalThis.fetch): ChatTransport<UIMessage> =>
  createResumableChatTransport({
    api: 'http://chat.test/api/chat',
    fetch,
    retryDelayMs: () => 0,
  });

describe.each([
  ['a page that continues where it was', { transport: cursor }],
  // A stock page rebuilds the message from its beginning whenever the connection is lost.
  ['a page that begins again', {}],
])('%s', (_name, chat) => {
  it.each(MAJORS)('a page shows the same in %s, whatever breaks', async (_major, library) => {
    await fc.assert(
      fc.asyncProperty(schedules, async ({ turn, loadedAt, pace, line }) => {
        const player = createPlayer(turn.changes);
        const last = 1 + (loadedAt % turn.changes.length);
        while (player.ahead().length > turn.changes.length - last) await player.play();
        const bridge = createBridge(player);
        const throughBadLine = createBadLine(line);
        const load = (): Promise<Page> =>
          loadPage(player, bridge, {
            library,
            line: throughBadLine,
            chat: { ...chat, mostRequests: 20 },
          });
        let page = await load();
        await page.follow();
        await playToStop(player, pace);
        await page.rests();
        while (page.chat.error !== undefined) {
          const { message } = page.chat.error;
          if (message === 'network error') {
            await page.chat.resumeStream();
          } else if (isWithdrawn(message)) {
            expect(WITHDRAWN).toContain(turn.name);
            page = await load();
            await page.follow();
          } else break;
          await page.rests();
        }
        // Only the snapshot shows a turn that has failed.
        const record = await player.store.sessions.read(player.sessionId);
        if (record?.stream === 'failed') page = await load();
        await expectStored(page, player);
      }),
      { numRuns: 15 },
    );
  });
});

/** What stock clients show of a reply of which a part was withdrawn, and what the transport says. */
function isWithdrawn(message: string): boolean {
  return message === BROKEN_OFF || message === 'The reply has to be loaded again.';
}

/** Plays to where responses end: the next pause or end of the active turn. */
async function playToStop(player: Player, pace: readonly number[]): Promise<void> {
  const start = await player.store.sessions.read(player.sessionId);
  for (let n = 0; player.ahead().length > 0; n += 1) {
    const now = await player.store.sessions.read(player.sessionId);
    if (now?.stream !== 'active' || now.turn !== start?.turn) return;
    await player.play();
    for (let turns = pace[n % pace.length] ?? 0; turns > 0; turns -= 1) await nextTurn();
  }
  expect(player.ahead()).toEqual([]);
}
