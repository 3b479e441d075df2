import { equal } from '../assertions.js';
import {
  approval,
  assistantRow,
  newNonce,
  newSessionId,
  server,
  userMessage,
} from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import { counts, newOwner, newSession, runOf } from './owner-fixtures.js';

export function ownerUsageCases({ describe, it }: Suite): void {
  describe('what an owner has', () => {
    it('a run counts as active except while people are asked', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const { fold } = setup.store.owners;
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      const runId = await runOf(setup, session);
      await session.ask(runId, 1, [approval('c1')]);
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 0, queued: 0, sessions: 1 });
      await session.decide(runId, 'c1', false);
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      await session.begin({ ...owner, messages: [userMessage('u2')], policy: 'queue' });
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 1, queued: 1, sessions: 1 });
      await session.stop({ mode: 'abort' });
      await session.end(runId, 'aborted');
      await fold(session.id);
      equal(await counts(setup, owner), { runs: 0, queued: 1, sessions: 1 });
    });

    it('repeated and concurrent folds count a session once', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const other = (await setup.another()).store;
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? setup.store : other).owners.fold(session.id),
        ),
      );
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
    });

    it('a conversation that is erased while it is charged counts for nobody', async (setup) => {
      const owner = newOwner();
      const other = (await setup.another()).store;
      const begun = Array.from({ length: 20 }, async () => {
        const session = drive(setup);
        await session.begin(owner);
        await Promise.all([
          setup.store.owners.fold(session.id, owner),
          other.owners.fold(session.id, owner),
          setup.store.sessions.erase(session.id),
        ]);
      });
      await Promise.all(begun);
      equal(await setup.store.owners.usage(owner), { runs: 0, queued: 0, sessions: 0, bytes: 0 });
    });

    it('bytes grow with stored messages, results and entries, and shrink when these are removed', async (setup) => {
      const owner = newOwner();
      const session = drive(setup);
      const bytes = async (): Promise<number> => {
        await setup.store.owners.fold(session.id);
        return (await setup.store.owners.usage(owner)).bytes;
      };
      const near = (value: number, expected: number): void => {
        equal(
          Math.abs(value - expected) < 2_000,
          true,
          `${String(value)} is about ${String(expected)}`,
        );
      };
      const run = await session.newRun({
        ...owner,
        messages: [userMessage('u1', 'ä'.repeat(10_000))],
      });
      near(await bytes(), 20_000);
      const writer = session.writer(run.runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'x'.repeat(30_000));
      near(await bytes(), 50_000);
      const part = { type: 'text', text: 'y'.repeat(5_000) } as const;
      await session.commit(writer, { row: { ...assistantRow(writer, []), parts: [part] } });
      near(await bytes(), 55_000);
      await setup.store.documents.save(session.id, {
        customState: { note: 'z'.repeat(7_000) },
        version: 0,
      });
      near(await bytes(), 62_000);
      await session.save({ note: 1 }, 1);
      near(await bytes(), 55_000);
      await session.retry();
      near(await bytes(), 20_000);
      await session.begin({
        ...owner,
        messages: [{ ...userMessage('u2', 'w'.repeat(9_000)), hash: 'h' }],
        policy: 'queue',
      });
      near(await bytes(), 29_000);
      await setup.store.queue.remove({ sessionId: session.id, now: Date.now() });
      near(await bytes(), 20_000);
    });

    it('copies and large results of calls are counted', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      const runId = await runOf(setup, session);
      await session.ask(runId, 1, [server('c1')]);
      await session.carryOut(runId, 1, 'c1', 'r'.repeat(100_000));
      await setup.store.owners.fold(session.id);
      const before = (await setup.store.owners.usage(owner)).bytes;
      equal(before > 100_000, true, 'a result counts');
      const rows = [assistantRow(session.writer(runId, 1, 1), [])];
      const copy = newSessionId();
      const messages: never[] = [];
      const turn = { turn: 1, row: 0, messageId: 'msg-1', step: 1, hasReplied: true };
      const part = { type: 'text', text: 'y'.repeat(50_000) } as const;
      await setup.store.sessions.branch({
        ...{ ...owner, sessionId: copy, agent: 'tester', nonce: newNonce(), messages, turn },
        ...{ rows: rows.map((row) => ({ ...row, parts: [part] })) },
        ...{ visibleMessages: 1, now: Date.now() },
      });
      await setup.store.owners.fold(copy);
      const copied = (await setup.store.owners.usage(owner)).bytes - before;
      equal(copied > 50_000 && copied < 52_000, true, String(copied));
    });

    it('a repair corrects figures whose folds were lost', async (setup) => {
      const owner = newOwner();
      const session = await newSession(setup, owner);
      await session.end(await runOf(setup, session), 'completed');
      equal(await counts(setup, owner), { runs: 1, queued: 0, sessions: 1 });
      await setup.store.owners.repair(owner);
      equal(await counts(setup, owner), { runs: 0, queued: 0, sessions: 1 });
    });
  });
}
