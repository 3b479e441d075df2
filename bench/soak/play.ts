import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { sleep } from '../clock.js';
import type { Say } from '../command.js';
import type { Faults } from '../processes/member.js';
import { auditAll, plant, type AnyRedis } from './audit.js';
import {
  beginWaiting,
  countTurns,
  playTurn,
  talkUntil,
  type Conversation,
  type Pauses,
  type Talk,
} from './conversation.js';
import { createRequests } from './page.js';
import { createVerdict, formatVerdict, isClean, type Kind } from './verdict.js';

const PROGRESS_MS = 15_000;

/** Setup of a soak: servers, people and faults. */
export interface Stage {
  /** Returns the server for the next request. */
  pickUrl: () => string;
  redis: AnyRedis;
  temporal: Client;
  taskQueue: string;
  minutes: number;
  /** Number of concurrent people. */
  people: number;
  pauses: Pauses;
  /** Empty for a comparison run. */
  faults: Faults;
  /** Pauses between two faults, ms. */
  faultPauses: { min: number; max: number };
  planted: readonly Kind[];
  /** Number of runs that wait for people from before the first fault until the deploy is over. */
  waiting?: number;
  /** Runs in parallel with the conversations; returns the number of runs that it left behind. */
  deploy?: () => Promise<number>;
  /** Returns the processes whose memory has grown. */
  findGrowing?: () => string[];
  /** Reports on a conversation that did not come to rest. */
  examine?: Talk['examine'];
  say: Say;
}

/** Plays conversations during faults, checks all of them, and prints the verdict. Returns true if it is clean. */
export async function play(stage: Stage): Promise<boolean> {
  const { redis, temporal, taskQueue, faults, say, examine } = stage;
  const verdict = createVerdict();
  const requests = createRequests(stage.pickUrl);
  const talk: Talk = { requests, verdict, say, ...(examine && { examine }) };
  const waiting = await beginWaiting(talk, stage.waiting ?? 0);
  if (waiting.length > 0) say(`${String(waiting.length)} runs wait for people`);
  const conversations: Conversation[] = [...waiting];
  const answerLater = async (): Promise<void> => {
    const left = (await stage.deploy?.()) ?? 0;
    verdict.stuck += left;
    const answered = waiting.flatMap((each) =>
      each.turns.map((turn) => playTurn(talk, each, turn)),
    );
    const completed = (await Promise.all(answered)).filter(Boolean).length;
    if (waiting.length > 0) say(`${String(completed)} of the waiting runs were answered and ended`);
  };
  const end = AbortSignal.timeout(stage.minutes * 60_000);
  setMaxListeners(0, end);
  const progress = setInterval(() => {
    say(`${String(countTurns(conversations))} turns. ${formatVerdict(verdict)}`);
  }, PROGRESS_MS);
  const talking = Array.from({ length: stage.people }, () =>
    talkUntil(end, talk, conversations, stage.pauses),
  );
  const failing = playFaults(faults, stage.faultPauses, end, say);
  const [played] = await Promise.all([failing, answerLater(), ...talking]);
  clearInterval(progress);

  say('everything rests; looking at all of it once more');
  for (const kind of stage.planted) await plant(kind, redis, conversations);
  for (const { sessionId, isStuck } of conversations) {
    if (isStuck) await examine?.(sessionId, 'a later look, when nothing fails any more');
  }
  await auditAll(talk, conversations, { redis, temporal, taskQueue });
  for (const process of stage.findGrowing?.() ?? []) {
    verdict.leaked += 1;
    say(`GROWS ${process}`);
  }
  const turns = countTurns(conversations);
  const counted = [...played].map(([name, times]) => `${name} ${String(times)}`).join(' · ');
  console.log(`${String(turns)} turns in ${String(conversations.length)} conversations`);
  console.log(`faults: ${counted}`);
  console.log(formatVerdict(verdict));
  const isCalm = Object.keys(faults).length === 0;
  const times = [...played.values()].reduce((sum, each) => sum + each, 0);
  return isClean(verdict, { turns, faults: isCalm ? undefined : times });
}

/**
 * Plays the faults one after the other, each once before any repeats, until the time is up; resolves to the
 * number of times that each was played.
 */
async function playFaults(
  faults: Faults,
  { min, max }: Stage['faultPauses'],
  end: AbortSignal,
  say: Say,
): Promise<Map<string, number>> {
  const played = new Map<string, number>();
  while (Object.keys(faults).length > 0) {
    for (const [name, playOnce] of shuffled(Object.entries(faults))) {
      await sleep(min + randomInt(max - min));
      if (end.aborted) return played;
      played.set(name, (played.get(name) ?? 0) + 1);
      say(name);
      await playOnce();
    }
  }
  return played;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
