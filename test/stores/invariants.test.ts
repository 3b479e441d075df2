import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Row } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import { drive, newCall, textIn, userMessage } from '../support/session-driver.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

/** One event in the life of a session; numbers choose among what exists by then. */
const Event = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      token: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      token: fc.integer({ min: 1, max: 4 }),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      token: fc.integer({ min: 1, max: 4 }),
      kinds: fc.array(fc.constantFrom('server', 'approval', 'client'), { maxLength: 3 }),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      call: fc.nat(7),
      token: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      call: fc.nat(7),
      token: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      call: fc.nat(7),
      approved: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('discard' as const),
      token: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const) }) },
);
type Event = typeof Event extends fc.Arbitrary<infer T> ? T : never;

/** What a plain model knows: what each attempt got stored, and what became of it. */
interface Attempt {
  batch: number;
  said: string;
}

async function live(stores: TestStores, events: readonly Event[]) {
  const session = drive(stores);
  const attempts = new Map<string, Attempt>();
  const committed: string[] = [];
  const calls: string[] = [];
  const executed = new Map<string, number>();
  const runs: string[] = [];
  let messages = 0;
  let word = 0;

  for (const event of events) {
    const record = await stores.store.readRecord(session.id);
    const runId = record?.runId ?? 'none';
    const step = (record?.committedStep ?? 0) + 1;
    const tokenOf = (token: number): ReturnType<typeof session.writer> =>
      session.writer(runId, step, token);
    const key = (token: number): string => `${runId}/${String(step)}/${String(token)}`;
    switch (event.do) {
      case 'begin': {
        messages += 1;
        const result = await session.begin({ messages: [userMessage(`u${String(messages)}`)] });
        if (result.kind === 'begun') runs.push(result.run.runId);
        break;
      }
      case 'claim': {
        const result = await session.claim(tokenOf(event.token));
        if (result.kind === 'claimed' && !attempts.has(key(event.token))) {
          attempts.set(key(event.token), { batch: 0, said: '' });
        }
        break;
      }
      case 'say': {
        const attempt = attempts.get(key(event.token)) ?? { batch: 0, said: '' };
        const text = `w${String((word += 1))} `;
        const writer = tokenOf(event.token);
        const result = await session.say(writer, attempt.batch + 1, text);
        if (result.kind !== 'appended') break;
        if (event.twice) expect(await session.say(writer, attempt.batch + 1, text)).toEqual(result);
        attempt.batch += 1;
        attempt.said += text;
        break;
      }
      case 'commit': {
        const wanted = event.kinds.map((kind) =>
          newCall(`c${String((word += 1))}`, kind as 'server'),
        );
        const writer = tokenOf(event.token);
        const commit = (): ReturnType<typeof session.commit> =>
          session.commit(writer, { calls: wanted });
        const result = await commit();
        if (result.kind !== 'committed') break;
        committed.push(attempts.get(key(event.token))?.said ?? '');
        calls.push(...wanted.map(({ toolCallId }) => toolCallId));
        if (event.twice) expect((await commit()).kind).toBe('done');
        break;
      }
      case 'start': {
        const id = calls[calls.length - 1 - event.call];
        if (id === undefined) break;
        const result = await session.start(runId, step - 1, id, event.token);
        if (result.kind === 'execute')
          executed.set(id, Math.max(result.execution, executed.get(id) ?? 0));
        break;
      }
      case 'finish': {
        const id = calls[calls.length - 1 - event.call];
        if (id !== undefined) await session.finishCall(runId, step - 1, id, 'out', event.token);
        break;
      }
      case 'decide': {
        const id = calls[calls.length - 1 - event.call];
        if (id !== undefined) await session.decide(runId, id, event.approved);
        break;
      }
      case 'discard': {
        const failure = 1 + word;
        const result = await stores.store.discard({
          writer: tokenOf(event.token),
          failure,
          reason: 'x',
          now: 1,
        });
        const attempt = attempts.get(key(event.token));
        if (result.kind === 'discarded' && attempt !== undefined) attempt.said = '';
        break;
      }
      case 'stop':
        await stores.store.stop(session.id, { mode: 'interrupt' });
        break;
      case 'end':
        await stores.store.end({ ...ending(session.id, runId), status: 'failed' });
        break;
    }
    await checkPause(stores, session.id);
  }
  // Whatever happened, every run can be brought to an end.
  const open = await stores.store.readRecord(session.id);
  if (open !== undefined) {
    await stores.store.end({ ...ending(session.id, open.runId), status: 'interrupted' });
  }
  return { session, runs, committed, executed };
}

const ending = (sessionId: string, runId: string) => ({
  sessionId,
  runId,
  agentType: 'tester',
  step: 0,
  now: 1,
});

/** Paused exactly when a person, and nobody else, can go on. */
async function checkPause({ store, redis }: TestStores, sessionId: string): Promise<void> {
  const view = await store.readView(sessionId);
  if (view === undefined || isTerminal(view.record.status)) return;
  const busy = await redis.scard(`hx:{${sessionId}}:busy`);
  const waits = view.openCalls.some(({ state }) => state === 'waiting');
  expect({
    paused: view.record.stream === 'paused',
    waits: view.record.status.startsWith('waiting'),
  }).toEqual({ paused: waits && busy === 0, waits: waits && busy === 0 });
}

function toolIds(rows: readonly Row[]): { asked: string[]; answered: string[] } {
  return {
    asked: rows.flatMap((row) =>
      row.role === 'assistant'
        ? row.parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [],
    ),
    answered: rows.flatMap((row) => (row.role === 'tool' ? [row.toolCallId] : [])),
  };
}

describe('whatever attempts, zombies and repeats do', () => {
  it('committed text is there once, calls have one result, runs end once', async () => {
    const stores = await openTestStores();
    await fc.assert(
      fc.asyncProperty(
        fc.array(Event, { minLength: 5, maxLength: 60, size: 'max' }),
        async (events) => {
          const { session, runs, committed, executed } = await live(stores, [
            { do: 'begin' },
            { do: 'claim', token: 1 },
            ...events,
          ]);
          const log = await session.log();
          const text = textIn(log);
          // Each committed attempt's words stand there exactly once, in their order.
          let from = 0;
          for (const said of committed) {
            const at = text.indexOf(said, from);
            expect(at).toBeGreaterThanOrEqual(0);
            from = at + said.length;
          }
          const words = text.split(' ');
          expect(new Set(words).size).toBe(words.length);
          const numbers = log.map(({ sequence }) => sequence);
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));

          const { asked, answered } = toolIds(await stores.store.readRows(session.id, 0));
          expect(answered).toEqual(asked);
          expect([...executed.values()].every((times) => times === 1)).toBe(true);
          expect(await session.messages('stream_end')).toHaveLength(runs.length);
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});
