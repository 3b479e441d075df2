import { randomInt, randomUUID } from 'node:crypto';

/** One message to the lab agent, and what has to come of it. */
export interface Turn {
  kind: string;
  /** Id of the user's message. */
  id: string;
  /** The script. */
  text: string;
  /** All words that its reply says, in their order. */
  words: string[];
  /** A person stops it this long after it began, ms. */
  stopAfterMs?: number;
  /** The page is loaded again this long after it began, ms. */
  reloadAfterMs?: number;
}

type Entry = Record<string, unknown>;
type Speak = (count: number, how?: Entry) => Entry;

/** What conversations do, by name. `speak` makes an entry that says so many new words. */
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

export function makeTurn(prefix: string): Turn {
  const kind = NAMES[randomInt(NAMES.length)] ?? 'words';
  const words: string[] = [];
  let calls = 0;
  const speak: Speak = (count, how = {}) => {
    // Of one width, so that a word which a stop has cut is no other word.
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
