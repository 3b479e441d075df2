import type { LogEntry } from '../../../protocol/chunk.js';
import { drive, textIn } from '../../support/session-driver.js';
import { openStores, sharedRedisUrl } from '../../support/test-stores.js';
import { startChild, type Child } from './child.js';

const STEPS = 6;
const WORDS = 30;
const KILLS = 5;
/** Number of words after which a writer rests, so that it can be killed in mid-step. */
const REST = 10;

type WriterMessage =
  | { did: 'claim' | 'commit'; step: number }
  | { did: 'append'; step: number; word: number }
  | { did: 'finish' }
  | { did: 'stop'; refusal: string };

/** Returns all words of the steps, each once. */
function allWords(steps: number, words: number): string[] {
  return Array.from({ length: steps * words }, (_, n) => {
    const [step, word] = [Math.floor(n / words) + 1, (n % words) + 1];
    return `${String(step)}.${String(word)} `;
  });
}

/** Returns the words of a follower's entries that remain after discards. */
function standingWords(entries: readonly LogEntry[]): string[] {
  let words: { step: number; text: string }[] = [];
  for (const { message } of entries) {
    if (message.type === 'text_delta') words.push({ step: message.step, text: message.delta });
    if (message.type === 'step_discarded') {
      words = words.filter(({ step }) => `s${String(step)}` !== message.stepId);
    }
  }
  return words.map(({ text }) => text);
}

/** Opens a session with a run, a follower in its own process, and a way to start attempts. */
async function openScene() {
  const url = sharedRedisUrl();
  const stores = await openStores(url);
  const session = drive(stores);
  const { runId } = await session.newRun();
  const scene = { url, sessionId: session.id, runId };
  const children: Child<unknown>[] = [];
  const start = <T>(script: string, input: object): Child<T> => {
    const child = startChild<T>(script, input);
    children.push(child);
    return child;
  };
  return {
    session,
    follower: start<LogEntry>('word-follower.mjs', scene),
    attempt: (token: number, restAfter?: number) => {
      const input = { ...scene, token, steps: STEPS, words: WORDS, restAfter };
      return start<WriterMessage>('word-writer.mjs', input);
    },
    close: () => Promise.all(children.map((child) => child.kill9())),
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

async function expectEachWordOnce({ session, follower }: Scene): Promise<void> {
  await follower.sends('the end', ({ message }) => message.type === 'stream_end');
  const words = allWords(STEPS, WORDS);
  expect(textIn(await session.log())).toBe(words.join(''));
  expect(standingWords(follower.messages)).toEqual(words);
  const sequences = follower.messages.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
}

describe('processes that die, sleep and wake up late', () => {
  it('writers that are killed -9 lose and double nothing that was committed', async () => {
    const scene = await openScene();
    try {
      for (let token = 1; token <= KILLS; token += 1) {
        // The writer rests in its second step, so no late kill lets it reach the end.
        const writer = scene.attempt(token, WORDS + 8);
        // The event count is approximate: the writer continues while the signal is on its way.
        await writer.sends('enough', () => true, 1 + ((token * 17) % (WORDS + 8)));
        await writer.kill9();
      }
      await scene.attempt(KILLS + 1).sends('that it finished', ({ did }) => did === 'finish');
      await expectEachWordOnce(scene);
      // Without any discarded step, the test would have tested nothing.
      expect((await scene.session.messages('step_discarded')).length).toBeGreaterThan(1);
    } finally {
      await scene.close();
    }
  });

  it('a zombie that wakes up late is refused, and nothing of it is readable', async () => {
    const scene = await openScene();
    try {
      const zombie = scene.attempt(1, REST);
      await zombie.sends('some words', ({ did }) => did === 'append', REST);
      zombie.signal('SIGSTOP');
      zombie.proceed();
      const next = scene.attempt(2, REST);
      await next.sends('words of its own', ({ did }) => did === 'append', REST);
      zombie.signal('SIGCONT');
      await zombie.sends('that it is refused', ({ did }) => did === 'stop');
      expect(zombie.messages.at(-1)).toEqual({ did: 'stop', refusal: 'fenced' });
      next.proceed();
      await next.sends('that it finished', ({ did }) => did === 'finish');
      await expectEachWordOnce(scene);
    } finally {
      await scene.close();
    }
  });
});
