import type { LogEntry } from '../../../protocol/chunk.js';
import { answersAhead, giveAnswers } from './answering.js';
import {
  createBridge,
  expectStored,
  loadPage,
  nextTurn,
  type Page,
  type PageOptions,
} from './page.js';
import { createPlayer, type Player } from './play-transitions.js';
import { splitAppends } from './recorded-turns.js';
import type { Transition } from './transitions.js';

export interface Reloaded {
  /** How many pages there were. */
  pages: number;
  /** How many of them held parts that were withdrawn, and had to load once more. */
  cut: number;
}

/**
 * Plays what was recorded, and loads a page between any two transitions: it follows at once, and
 * others that were loaded there follow later. At each stop of the turn every page has to show what
 * is stored; then those that are asked give the recorded answers.
 */
export async function reloadEverywhere(
  transitions: readonly Transition[],
  options: PageOptions,
): Promise<Reloaded> {
  const player = createPlayer(splitAppends(transitions));
  const bridge = createBridge(player);
  const load = (hasCookies: boolean): Promise<Page> =>
    loadPage(player, bridge, { ...options, hasCookies });
  const reloaded: Reloaded = { pages: 0, cut: 0 };
  let following: Page[] = [];
  let told = 0;

  while (player.ahead().length > 0) {
    await player.play();
    const entries = await player.streamManager.read(player.sessionId, told, 1_000);
    told = entries.at(-1)?.sequence ?? told;
    const page = await load(reloaded.pages % 2 === 0);
    reloaded.pages += 1;
    await page.follow();
    for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    following = await withoutCut(following);
    if (!entries.some((entry) => isStop(player, entry))) {
      following.push(page);
      continue;
    }
    // Where the next turn has begun the new page follows that one.
    const isOnItsWay = (await player.store.readRecord(player.sessionId))?.stream === 'active';
    if (!isOnItsWay) following.push(page);
    for (const each of following) {
      await each.rests();
      await expectStored(each, player);
    }
    const answers = answersAhead(player.ahead());
    for (const each of answers.length > 0 ? following : []) {
      each.expected.push('POST');
      await giveAnswers(each.chat, answers);
    }
    player.skip(answers.length);
    if (answers.length === 0) following = isOnItsWay ? [page] : [];
  }
  return reloaded;

  async function withoutCut(pages: Page[]): Promise<Page[]> {
    const kept: Page[] = [];
    for (const page of pages) {
      if (page.chat.error?.message !== 'an attempt was withdrawn') {
        kept.push(page);
        continue;
      }
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
