import { equal, includes } from '../assertions.js';
import { approval, client, newNonce, userMessage } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import { playTurn } from './played-turns.js';
import type { Suite } from '../suite.js';

/** A request that many clients send at once. `prepare` brings the session into position and returns its run. */
interface Race {
  prepare?: (session: SessionDriver) => Promise<string>;
  send: (session: SessionDriver, runId: string, n: number) => Promise<{ kind: string }>;
  /** Reply to the client whose request wins, and to all others. */
  kinds: [done: string, other: string];
  /** Number of runs in the end. */
  runs: number;
}

const asked = (call: typeof approval) => async (session: SessionDriver) =>
  (await session.asked(call('c'))).runId;

/** Prepares a stopped run with these messages queued. */
const stopped =
  (...ids: string[]) =>
  async (session: SessionDriver): Promise<string> => {
    const { runId } = await session.newRun();
    for (const id of ids) await session.enqueue(id);
    await session.stop();
    return runId;
  };

const RACES: Readonly<Record<string, Race>> = {
  messages: {
    send: (session, _, n) => session.begin({ messages: [userMessage(`m${String(n)}`)] }),
    kinds: ['begun', 'busy'],
    runs: 1,
  },
  'copies of a message': {
    send: (session) => session.begin(),
    kinds: ['begun', 'accepted'],
    runs: 1,
  },
  'requests to resume': {
    prepare: stopped(),
    send: (session, runId) => session.resume({ runId }),
    kinds: ['resumed', 'active'],
    runs: 2,
  },
  retries: {
    prepare: async (session) => (await playTurn(session, 'u1')).runId,
    send: (session, runId) => session.retry({ runId }),
    kinds: ['rewound', 'busy'],
    runs: 2,
  },
  'requests for the next message': {
    prepare: stopped('q1', 'q2'),
    send: (session) => session.beginNext(),
    kinds: ['begun', 'busy'],
    runs: 2,
  },
  decisions: {
    prepare: asked(approval),
    send: (session, runId, n) => session.decide(runId, 'c', n % 3 === 0),
    kinds: ['stored', 'already_completed'],
    runs: 1,
  },
  results: {
    prepare: asked(client),
    send: (session, runId, output) => session.answer(runId, 'c', { output }),
    kinds: ['stored', 'already_completed'],
    runs: 1,
  },
};

/** Ways to replace a run that has a writer. */
const REPLACED: [name: string, replace: (session: SessionDriver) => Promise<unknown>][] = [
  ['a message', (session) => session.newRun('u9')],
  ['a run that continues its turn', (session) => session.resume()],
  ['a run that repeats its turn', (session) => session.retry()],
];

export function atOnceCases({ describe, it }: Suite): void {
  describe('one run at a time', () => {
    for (const [name, { prepare, send, kinds, runs }] of Object.entries(RACES)) {
      const [done, other] = kinds;
      it(`of many ${name} at once one is done`, async ({ session, another }) => {
        const beside = drive(await another(), session.id);
        const runId = (await prepare?.(session)) ?? '';
        const replies = await Promise.all(
          Array.from({ length: 10 }, (_, n) => send(n % 2 === 0 ? session : beside, runId, n)),
        );
        const isDone = (reply: { kind: string }): boolean => reply.kind === done;
        equal(replies.filter(isDone).length, 1);
        equal(replies.filter(({ kind }) => kind === other).length, 9);
        equal((await session.runs()).length, runs);
        const row = (await session.call('c'))?.row;
        if (row?.role === 'tool' && 'output' in row) equal(row.output, replies.findIndex(isDone));
        equal((await session.messages('run_resumed')).length <= 1, true);
      });
    }

    it('a request that begins a run is done once, whenever it is repeated', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.stop();
      const resume = { nonce: newNonce(), now: 5 };
      const resumed = await session.resume(resume);
      includes(resumed, { kind: 'resumed' });
      equal(await session.resume({ ...resume, now: 6 }), resumed);
      await session.enqueue('q1');
      await session.stop();
      const next = { sessionId: session.id, nonce: newNonce(), now: 5 };
      const begun = await store.queue.begin(next);
      includes(begun, { kind: 'begun' });
      equal(await store.queue.begin({ ...next, now: 6 }), begun);
      await session.stop();
      const again = {
        runId: begun.kind === 'begun' ? begun.run.runId : '',
        nonce: newNonce(),
        now: 5,
      };
      const rewound = await session.retry(again);
      includes(rewound, { kind: 'rewound' });
      equal(await session.retry({ ...again, now: 6 }), rewound);
      equal((await session.runs()).length, 4);
      equal((await session.messages('stream_resync')).length, 1);
      includes(await session.retry({ runId }), { kind: 'busy' });
      await session.stop();
      includes(await session.retry({ runId }), { kind: 'stale_run' });
    });

    for (const [name, replace] of REPLACED) {
      it(`a run that was replaced can write nothing more: ${name}`, async ({ session }) => {
        const { runId, writer } = await session.claimed();
        await session.say(writer, 1, 'a');
        await session.stop();
        await session.end(runId, 'interrupted');
        await replace(session);
        await isSuperseded(session, runId);
      });
    }

    it('a run of an erased session cannot write into the next one of that id', async (setup) => {
      const { store, session } = setup;
      const { runId, writer } = await session.claimed();
      await session.say(writer, 1, 'old');
      await store.sessions.erase(session.id);
      includes(await session.newRun('u1'), { turn: 1, startSequence: 0 });
      await isSuperseded(session, runId);
      equal(await session.log(), []);
    });
  });
}

async function isSuperseded(session: SessionDriver, runId: string): Promise<void> {
  const writer = session.writer(runId, 1, 1);
  const superseded = { kind: 'superseded' };
  equal(await session.say(writer, 2, 'b', 0), superseded);
  equal(await session.commit(writer), superseded);
  equal(await session.claim({ ...writer, token: 99 }), superseded);
  equal(await session.start(runId, 1, 'new'), superseded);
  equal(await session.end(runId, 'failed'), superseded);
}
