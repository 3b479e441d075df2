import { randomInt } from 'node:crypto';
import { newSessionId } from '../client/session-ids.js';
import { sleep } from '../clock.js';
import { playTurn, type Conversation, type Talk } from './conversation.js';

const TURNS_OF_A_CONVERSATION = 6;

/** How long one person waits, ms. */
export interface Pauses {
  /** Before the first message and between two turns, at the most; absent: no time. */
  betweenTurns?: number;
  betweenConversations: number;
}

/** One person: conversation after conversation. */
export async function talkUntil(
  end: AbortSignal,
  talk: Talk,
  conversations: Conversation[],
  { betweenTurns = 0, betweenConversations }: Pauses,
): Promise<void> {
  const isOver = (): boolean => end.aborted;
  const think = (): Promise<unknown> => sleepUntil(end, randomInt(betweenTurns + 1));
  while (!isOver()) {
    const conversation: Conversation = { sessionId: newSessionId(), turns: [], isStuck: false };
    await think();
    if (isOver()) return;
    conversations.push(conversation);
    let isAtRest = true;
    while (isAtRest && !isOver() && conversation.turns.length < TURNS_OF_A_CONVERSATION) {
      isAtRest = await playTurn(talk, conversation);
      await think();
    }
    await sleep(betweenConversations);
  }
}

export function countTurns(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { turns }) => sum + turns.length, 0);
}

async function sleepUntil(end: AbortSignal, ms: number): Promise<void> {
  if (ms === 0 || end.aborted) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      end.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    end.addEventListener('abort', finish);
  });
}
