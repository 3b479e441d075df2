import { BROKEN_OFF } from '../../../ai-sdk/parts/errors.js';
import type { LogEntry } from '../../../protocol/chunk.js';
import { answersAhead, giveAnswers, type GivenAnswer } from './answering.js';
import { createBridge, expectStored, loadPage, type Page, type PageOptions } from './page.js';
import { createPlayer, type Player } from './play-changes.js';
import { splitAppends } from './recorded-turns.js';
import type { Change } from './changes.js';
import { nextTurn } from './next-turn.js';
import { until } from '../../support/until.js';

export interface Reloaded {
  /** How many pages there were. */
  pages: number;
  /** How many of them held parts that were withdrawn, and had to load once more. */
  cut: number;
}

/** Points that a page may let pass between its snapshot and its GET; at the next stop it sends it. */
const LATER = [1, 5, Infinity];

/**
 * Plays what was recorded, and loads pages at every stop and wherever something was written, at about so many points:
 * one follows at once, one later. Pages take the clients in turn, from the nth on. At each stop of the turn every page
 * has to show what is stored; then the recorded answers are given on all of them, on some when the turn has moved on.
 */
export async function reloadEverywhere(
  changes: readonly Change[],
  clients: readonly PageOptions[],
  from: number,
  atMost = Infinity,
): Promise<Reloaded> {
  const played = splitAppends(changes);
  const every = Math.ceil(played.length / atMost) || 1;
  const player = createPlayer(played);
  const bridge = createBridge(player);
  let loaded = from;
  const load = (hasCookies: boolean): Promise<Page> => {
    const client = clients[loaded % clients.length];
    if (client === undefined) throw new Error('there are no clients');
    loaded += 1;
    return loadPage(player, bridge, { ...client, hasCookies });
  };
  const reloaded: Reloaded = { pages: 0, cut: 0 };
  let following: Page[] = [];
  let late: { page: Page; after: number }[] = [];
  let behind: { page: Page; answers: readonly GivenAnswer[] }[] = [];
  let sent = 0;
  let points = from;

  while (player.ahead().length > 0) {
    await player.play();
    const entries = await player.streamManager.read(player.sessionId, sent, 1_000);
    if (entries.length === 0 && reloaded.pages > 0) continue;
    sent = entries.at(-1)?.sequence ?? sent;
    const isStopped = entries.some((entry) => isStop(player, entry));
    points += 1;
    if (!isStopped && points % every !== 0) {
      await sendLate(false);
      await letPagesRead();
      continue;
    }
    // Where the next turn has begun the new page follows that one; for the others it is too late.
    const isOnItsWay = isStopped && (await isActive());
    if (isOnItsWay) late = [];
    // Without cookies the newest snapshot counts: at rest it would take theirs back.
    if (isStopped) await sendLate(true);
    const page = await load(reloaded.pages % 2 === 0);
    reloaded.pages += 1;
    await page.follow();
    if (!isStopped) await sendLate(false);
    await letPagesRead();
    following = await withoutCut(following);
    if (!isStopped) {
      following.push(page);
      const after = LATER[reloaded.pages % LATER.length] ?? 0;
      if (page.shown() !== undefined)
        late.push({ page: await load(reloaded.pages % 2 === 0), after });
      continue;
    }
    await answerLate();
    if (!isOnItsWay) following.push(page);
    for (const each of following) await each.rests();
    following = await withoutCut(following);
    for (const each of following) {
      await each.rests();
      await expectStored(each, player);
      expect(each.chat.requests).toEqual(each.expected);
    }
    const answers = answersAhead(player.ahead());
    if (answers.length === 0) {
      following = isOnItsWay ? [page] : [];
      continue;
    }
    behind = following
      .filter((_, index) => index % 3 === 2)
      .map((each) => ({ page: each, answers }));
    following = following.filter((_, index) => index % 3 !== 2);
    for (const each of following) await give(each, answers);
    // Versions of the client differ in how soon they post.
    await until('the answers are stored', isActive);
    player.skip(answers.length);
  }
  return reloaded;

  async function letPagesRead(): Promise<void> {
    for (let turns = 0; turns < 3; turns += 1) await nextTurn();
  }

  async function isActive(): Promise<boolean> {
    return (await player.store.sessions.read(player.sessionId))?.stream === 'active';
  }

  async function give(page: Page, answers: readonly GivenAnswer[]): Promise<void> {
    page.expected.push('POST');
    await giveAnswers(page.chat, answers);
  }

  /** The GETs that are due; after a stop no page waits. */
  async function sendLate(isStopped: boolean): Promise<void> {
    for (const each of late) each.after -= 1;
    const due = late.filter(({ after }) => isStopped || after <= 0);
    late = late.filter((each) => !due.includes(each));
    for (const { page } of due) {
      await page.follow();
      following.push(page);
    }
  }

  /** Answers that others have given, from pages that did not know. */
  async function answerLate(): Promise<void> {
    for (const { page, answers } of behind) {
      await give(page, answers);
      following.push(page);
    }
    behind = [];
  }

  async function withoutCut(pages: Page[]): Promise<Page[]> {
    const kept: Page[] = [];
    for (const page of pages) {
      if (page.chat.error?.message !== BROKEN_OFF) {
        kept.push(page);
        continue;
      }
      // One that learns what is withdrawn keeps its connection.
      expect(page.profile).toBeUndefined();
      reloaded.cut += 1;
      const again = await load(true);
      await again.follow();
      kept.push(again);
    }
    return kept;
  }
}

function isStop({ sessionId }: Player, { message }: LogEntry): boolean {
  if (message.type === 'stream_end') return true;
  if (message.type !== 'run_paused' && message.type !== 'turn_started') return false;
  return message.agentId === sessionId;
}
