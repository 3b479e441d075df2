import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { newSessionId } from '../client/chat-client.js';
import { sleep } from '../clock.js';
import {
  createReader,
  json,
  tally,
  toWords,
  type Reader,
  type Requests,
  type Shown,
} from './page.js';
import type { Verdict } from './verdict.js';

/** A message to the lab agent and its expected outcome. */
interface Turn {
  kind: string;
  /** Id of the user message. */
  id: string;
  /** The lab script. */
  text: string;
  /** Expected words of the reply, in order. */
  words: string[];
  /** Time from the start to a person's stop, ms. */
  stopAfterMs?: number;
  /** Time from the start to a page reload, ms. */
  reloadAfterMs?: number;
}

type Entry = Record<string, unknown>;
type Speak = (count: number, how?: Entry) => Entry;

/** Scripts by name. `speak` makes an entry with that many new words. */
const KINDS: Record<string, (speak: Speak, id: () => string) => Entry[]> = {
  words: (speak) => [speak(60)],
  'provider fails': (speak) => [
    speak(30, { fail: { status: 529, retryAfterMs: 50, afterDeltas: 9, times: 2 } }),
  ],
  tools: (speak, id) => [
    speak(10, { calls: [call('echo', id(), { value: 1 }), call('sleep', id(), { ms: 300 })] }),
    speak(10, { calls: [call('remember', id(), { key: 'k', value: 2 })] }),
    speak(10),
  ],
  approval: (speak, id) => [speak(10, { calls: [call('charge', id(), { amount: 5 })] }), speak(20)],
  'client tool': (speak, id) => [speak(10, { calls: [call('locate', id(), {})] }), speak(20)],
  expiry: (speak, id) => [
    speak(5, { calls: [call('ask', id(), { question: 'Which one?' })] }),
    speak(10),
  ],
  'sub-agent': (speak, id) => [
    speak(5, {
      calls: [
        call('delegate', id(), {
          script: [{ calls: [call('charge', id(), { amount: 7 })] }, { say: 'done' }],
        }),
        call('charge', id(), { amount: 3 }),
      ],
    }),
    speak(20),
  ],
  stopped: (speak) => [speak(200)],
  reloaded: (speak) => [speak(80)],
};
const NAMES = Object.keys(KINDS);
const EVERY_MS = 25;

function makeTurn(prefix: string, kind = NAMES[randomInt(NAMES.length)] ?? 'words'): Turn {
  const words: string[] = [];
  let calls = 0;
  const speak: Speak = (count, how = {}) => {
    // Equal widths keep a word that a stop cut from matching another word.
    const next = Array.from(
      { length: count },
      (_, n) => `${prefix}w${String(words.length + n).padStart(3, '0')}`,
    );
    words.push(...next);
    return { say: `${next.join(' ')} `, deltas: count, everyMs: EVERY_MS, ...how };
  };
  const script = KINDS[kind]?.(speak, () => `${prefix}c${String((calls += 1))}`) ?? [];
  const turn = { kind, id: randomUUID(), text: JSON.stringify({ script }), words };
  if (kind === 'stopped') return { ...turn, stopAfterMs: 500 + randomInt(3_000) };
  if (kind === 'reloaded') return { ...turn, reloadAfterMs: 200 + randomInt(1_500) };
  return turn;
}

function call(tool: string, id: string, args: unknown): Entry {
  return { tool, id, args };
}

/** A conversation of a soak with all its turns. */
export interface Conversation {
  sessionId: string;
  turns: Turn[];
  /** True if it did not come to rest; nothing more is expected of it. */
  isStuck: boolean;
}

/** Several faults, their time-outs and recoveries may fall into one turn. */
const REST_WITHIN_MS = 150_000;
/** A late conversation is served for this long, which tells a slow one from one that hangs. */
const LATE_REST_MS = 300_000;
const LOOK_EVERY_MS = 400;
const WAITING_AT_ONCE = 8;
/** Longer waits for the next word are reported, ms. */
const LONG_MS = 15_000;

export interface Talk {
  requests: Requests;
  verdict: Verdict;
  say: (text: string) => void;
  /** Reports on a conversation that did not come to rest in time. */
  examine?: (sessionId: string, why: string) => Promise<void>;
}

/** Kinds of turns that wait for a person for as long as nobody answers. */
const WAITING_KINDS = ['approval', 'client tool'];

/** Begins conversations, a few at a time, and leaves each with its open questions. */
export async function beginWaiting({ requests }: Talk, count: number): Promise<Conversation[]> {
  const waiting = Array.from({ length: count }, (_, n): Conversation => {
    const turn = makeTurn('t0', WAITING_KINDS[n % WAITING_KINDS.length]);
    return { sessionId: newSessionId(), turns: [turn], isStuck: false };
  });
  const next = waiting.values();
  const beginSome = async (): Promise<void> => {
    for (const { sessionId, turns } of next) {
      for (const turn of turns) {
        const response = await requests.send(`/chat/${sessionId}`, toPost(sessionId, turn));
        await response.text();
      }
      const { status } = await requests.snapshot(sessionId);
      if (status !== 'paused') throw new Error(`${sessionId} is ${status} and should wait`);
    }
  };
  await Promise.all(Array.from({ length: WAITING_AT_ONCE }, beginSome));
  return waiting;
}

/** Plays a turn and checks page and record; returns false if the conversation is stuck. */
export async function playTurn(
  talk: Talk,
  conversation: Conversation,
  turn: Turn,
): Promise<boolean> {
  const { verdict, say } = talk;
  const { sessionId } = conversation;
  const reader = createReader((ms) => {
    verdict.recoveries.push(ms);
    if (ms > LONG_MS) say(`WAITED ${(ms / 1000).toFixed(0)} s, ${sessionId} ${turn.kind}`);
  }, turn.reloadAfterMs);
  const giveUpAt = Date.now() + REST_WITHIN_MS;
  const { isLive, shown } = await bringToRest(talk, sessionId, turn, reader, giveUpAt).catch(
    (error: unknown) => {
      say(String(error));
      return { isLive: false, shown: undefined };
    },
  );
  if (shown === undefined) {
    await bringToRestLate(talk, conversation, turn, reader);
    return false;
  }
  checkTurn(talk, sessionId, shown, turn);
  if (!isLive) return true;
  const seen = tally(storedWords(shown, turn), reader.words(), false);
  verdict.lost += seen.lost;
  verdict.doubled += seen.doubled;
  if (seen.lost + seen.doubled > 0) {
    say(`SHOWN OTHERWISE ${sessionId} ${turn.kind}: ${JSON.stringify(seen)}`);
  }
  return true;
}

/** The conversation counts as stuck even if it comes to rest now. */
async function bringToRestLate(
  talk: Talk,
  conversation: Conversation,
  turn: Turn,
  reader: Reader,
): Promise<void> {
  const { verdict, say } = talk;
  const { sessionId } = conversation;
  const why = `a turn of kind "${turn.kind}"`;
  verdict.stuck += 1;
  say(`STUCK ${sessionId}, ${why}`);
  await talk.examine?.(sessionId, why);
  const lateAt = Date.now();
  const { shown } = await bringToRest(talk, sessionId, turn, reader, lateAt + LATE_REST_MS).catch(
    () => ({ shown: undefined }),
  );
  conversation.isStuck = shown === undefined;
  const seconds = ((Date.now() - lateAt) / 1000).toFixed(0);
  say(`${sessionId} ${shown ? 'is at rest' : 'is not at rest'} ${seconds} s later`);
  if (shown) checkTurn(talk, sessionId, shown, turn);
}

/** Compares the stored text of a turn with the text that was sent. */
export function checkTurn(talk: Talk, sessionId: string, shown: Shown, turn: Turn): void {
  const { verdict, say } = talk;
  const isStopped = turn.stopAfterMs !== undefined;
  const found = tally(turn.words, storedWords(shown, turn), isStopped);
  verdict.lost += found.lost;
  verdict.doubled += found.doubled;
  if (found.lost + found.doubled > 0) {
    const run = JSON.stringify(shown.run ?? null);
    say(`STORED OTHERWISE ${sessionId} ${turn.kind}: ${JSON.stringify(found)}, run ${run}`);
  }
}

/** Reads, answers and stops as the turn says; the snapshot is absent if the turn does not come to rest. */
async function bringToRest(
  { requests, say }: Talk,
  sessionId: string,
  turn: Turn,
  reader: Reader,
  giveUpAt: number,
): Promise<{ isLive: boolean; shown?: Shown }> {
  const post = toPost(sessionId, turn);
  const stopping = stopLater(requests, sessionId, turn);
  for (let isStored = false; ;) {
    const response = await requests.send(`/chat/${sessionId}`, isStored ? {} : post);
    const isLive = response.status === 200 && (await reader.read(response));
    const shown = await requests.snapshot(sessionId);
    isStored = shown.messages.some(({ id }) => id === turn.id);
    const isOver = shown.status === 'ended' || shown.status === 'failed';
    if (isStored && isOver && (shown.queue ?? []).length === 0) {
      await stopping;
      return { isLive, shown };
    }
    if (Date.now() > giveUpAt) return { isLive };
    await answerAll({ requests, say }, sessionId, shown, reader);
    if (response.status !== 200) await sleep(LOOK_EVERY_MS);
  }
}

function toPost(sessionId: string, { id, text }: Turn): RequestInit {
  const message = { id, role: 'user', parts: [{ type: 'text', text }] };
  return json({ id: sessionId, agent: 'lab', messages: [message] });
}

/** Answers open questions, except those meant to expire. */
async function answerAll(
  { requests, say }: Pick<Talk, 'requests' | 'say'>,
  sessionId: string,
  shown: Shown,
  reader: Reader,
): Promise<void> {
  for (const { toolCallId, toolName } of shown.pending ?? []) {
    if (toolName === 'ask') continue;
    reader.rest();
    const answer = toolName === 'charge' ? { approved: true } : { result: 'here' };
    const path = `/chat/${sessionId}/pending/${encodeURIComponent(toolCallId)}`;
    const reply = await requests.send(path, json(answer));
    // An answer whose reply was lost is sent twice.
    if (reply.status >= 400 && reply.status !== 409 && reply.status !== 404) {
      say(`answer to ${toolName}: ${String(reply.status)} ${await reply.text()}`);
    } else await reply.body?.cancel();
  }
}

async function stopLater(requests: Requests, sessionId: string, turn: Turn): Promise<void> {
  if (turn.stopAfterMs === undefined) return;
  await sleep(turn.stopAfterMs);
  for (;;) {
    // A conversation does not exist before its first message.
    const response = await requests.send(`/chat/${sessionId}/stop`, json({}));
    await response.body?.cancel();
    if (response.status !== 404) return;
    await sleep(LOOK_EVERY_MS);
  }
}

function storedWords(shown: Shown, turn: Turn): string[] {
  const from = shown.messages.findIndex(({ id }) => id === turn.id);
  if (from < 0) return [];
  const behind = shown.messages.slice(from + 1);
  const end = behind.findIndex(({ role }) => role === 'user');
  const replies = end < 0 ? behind : behind.slice(0, end);
  return replies.flatMap(({ parts }) =>
    parts.flatMap(({ type, text }) => (type === 'text' ? toWords(text ?? '') : [])),
  );
}

const TURNS_OF_A_CONVERSATION = 6;

/** Pauses of one person, ms. */
export interface Pauses {
  /** Longest pause before the first message and between two turns; absent means none. */
  betweenTurns?: number;
  betweenConversations: number;
}

/** Plays one person, who holds one conversation after the other. */
export async function talkUntil(
  end: AbortSignal,
  talk: Talk,
  conversations: Conversation[],
  { betweenTurns = 0, betweenConversations }: Pauses,
): Promise<void> {
  const isOver = (): boolean => end.aborted;
  const think = (): Promise<unknown> =>
    setTimeout(randomInt(betweenTurns + 1), undefined, { signal: end }).catch(() => undefined);
  while (!isOver()) {
    const conversation: Conversation = { sessionId: newSessionId(), turns: [], isStuck: false };
    await think();
    if (isOver()) return;
    conversations.push(conversation);
    let isAtRest = true;
    const { turns } = conversation;
    while (isAtRest && !isOver() && turns.length < TURNS_OF_A_CONVERSATION) {
      const turn = makeTurn(`t${String(turns.length)}`);
      turns.push(turn);
      isAtRest = await playTurn(talk, conversation, turn);
      await think();
    }
    await sleep(betweenConversations);
  }
}

export function countTurns(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { turns }) => sum + turns.length, 0);
}
