import { ok } from 'node:assert/strict';
import { LIMITS } from '../../../protocol/limits.js';
import { equal, eventually, includes, refuses } from '../assertions.js';
import { approval, client, server, textIn, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import { conclude, playTurn, runOf, takeStep } from './played-turns.js';
import type { Suite } from '../suite.js';

export function runCases({ describe, it }: Suite): void {
  describe('begin', () => {
    it('the first message creates the session, its run and the id of the reply', async (setup) => {
      const { session } = setup;
      includes(await session.begin({ tenant: 'acme', nonce: 'abc' }), {
        kind: 'begun',
        run: { runId: `${session.id}:1-abc`, turn: 1, messageId: 'msg-1', startSequence: 0 },
      });
      includes(await session.record(), {
        agent: 'tester',
        owner: 'ann',
        tenant: 'acme',
        status: 'starting',
        stream: 'active',
      });
      equal(await session.rows(), [userMessage('u1').row]);
    });

    it('a message is accepted once, while its run is active and after it has ended', async (setup) => {
      const { session } = setup;
      const run = await session.newRun('u1');
      equal(await session.begin(), { kind: 'accepted' });
      const writer = session.writer(run.runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer);
      equal(await session.begin(), { kind: 'accepted' });
      equal((await session.rows()).length, 2);
      equal(await session.accepted(['u1', 'u2']), ['u1']);
    });

    it('another owner, another tenant and another agent are refused', async ({ session }) => {
      await session.begin({ tenant: 'acme' });
      equal(await session.begin({ tenant: 'acme', owner: 'eve' }), { kind: 'foreign' });
      equal(await session.begin({ tenant: 'other' }), { kind: 'foreign' });
      equal(await session.begin(), { kind: 'foreign' });
      equal(await session.begin({ tenant: 'acme', agent: 'x' }), {
        kind: 'agent_mismatch',
        agent: 'tester',
      });
    });
  });

  describe('a listener of changes', () => {
    it('is told what each change has done, before the reply, and by no other', async (setup) => {
      const { store, session } = setup;
      const told: [sessionId: string, ...kinds: string[]][] = [];
      const listening = store.listening((id, events) =>
        told.push([id, ...events.map(({ kind }) => kind)]),
      );
      const runs = { ...store.runs, ...listening.runs };
      const heard = drive({ ...setup, store: { ...store, runs } }, session.id);
      const { runId } = await session.newRun();
      equal([await heard.begin(), told], [{ kind: 'accepted' }, []]);
      includes(await heard.end(runId, 'failed'), { kind: 'ended' });
      const [[id, ...kinds] = [], ...others] = told;
      equal([id, kinds.includes('run_ended'), others], [session.id, true, []]);
      includes(await heard.end(runId, 'failed'), { kind: 'ended' });
      equal(told.flat().filter((kind) => kind === 'run_ended').length, 1);
      await session.newRun('u2');
      equal(told.flat().filter((kind) => kind === 'run_ended').length, 1);
      equal(Object.keys(listening).sort(), ['calls', 'queue', 'runs', 'sessions', 'steps']);
    });
  });

  describe('claim', () => {
    it('a claim makes run and stream active and returns the number of rows', async (setup) => {
      const { session } = setup;
      const { runId, messageId } = await session.newRun();
      includes(await session.claim(session.writer(runId, 1, 5)), {
        kind: 'claimed',
        rowCount: 1,
        sequence: 0,
        failures: 0,
        messageId,
      });
      includes(await session.record(), {
        status: 'running',
        stream: 'active',
        claimedStep: 1,
      });
    });

    it('a higher token withdraws exactly what the lower one wrote', async ({ session }) => {
      const { runId } = await session.asked(server('s'));
      await session.carryOut(runId, 1, 's', 1);
      const before = await session.log();
      const old = session.writer(runId, 2, 5);
      await session.claim(old);
      await session.say(old, 1, 'gone ');
      await session.say(old, 2, 'too');
      await session.claim(session.writer(runId, 2, 6));

      const after = await session.log();
      equal(after.slice(0, before.length), before);
      equal(
        after.slice(before.length).map(({ message, writer }) => [message.type, writer]),
        [
          ['step_discarded', ''],
          ['stream_resync', ''],
        ],
      );
      includes(await session.messages('stream_resync'), [
        {
          reason: 'crash_recovery',
          stepCount: 1,
          messageCount: 3,
          checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}`,
        },
      ]);
      // A new entry never reuses a sequence.
      await session.say(session.writer(runId, 2, 6), 1, 'new');
      equal((await session.log()).at(-1)?.sequence, (before.at(-1)?.sequence ?? 0) + 5);
    });

    it('a lower token is refused, and so is what its writer writes', async ({ session }) => {
      const { runId } = await session.newRun();
      const [old, young] = [session.writer(runId, 1, 5), session.writer(runId, 1, 6)];
      await session.claim(old);
      await session.claim(young);
      equal(await session.claim(old), { kind: 'fenced' });
      equal(await session.commit(old), { kind: 'fenced' });
    });

    it('a claim distinguishes a session from an erased one with the same id', async (setup) => {
      const { store, session } = setup;
      const bornOf = async (messageId: string): Promise<string> => {
        const { runId } = await session.newRun(messageId);
        const claimed = await session.claim(session.writer(runId, 1, 1));
        if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
        equal((await session.record())?.born, claimed.born);
        return claimed.born;
      };
      const first = await bornOf('u1');
      await store.sessions.erase(session.id);
      const second = await bornOf('u1');
      ok(first !== second);
      await session.stop({ mode: 'abort' });
      const { runId } = (await session.record()) ?? { runId: '' };
      await session.end(runId, 'aborted');
      equal(await bornOf('u2'), second);
    });
  });

  describe('a deadline', () => {
    it("the store's clock decides, whatever the caller's clock shows", async ({ session }) => {
      const { runId } = await session.asked(client('c', { deadlineMs: 60_000 }));
      const ahead = Date.now() + 1_000_000_000;
      const early = await session.expire(runId, 'c', ahead);
      includes(early, { kind: 'not_due' });
      const left = early.kind === 'not_due' ? (early.dueInMs ?? 0) : 0;
      ok(left > 0 && left <= 60_000, `due in ${String(left)} ms`);
      includes(await session.answer(runId, 'c', { output: 'in time' }), { kind: 'stored' });
    });
  });

  describe('queue', () => {
    it('messages sent while a run is active are queued and answered in order', async (setup) => {
      const { session } = setup;
      const first = await session.newRun('u1');
      includes(await session.enqueue('u2'), { kind: 'queued' });
      includes(await session.begin({ messages: [userMessage('u3')], policy: 'queue', by: 'ann' }), {
        kind: 'queued',
      });
      includes(await session.queue(), [
        { id: 'u2', mode: 'queue', messages: [{ id: 'u2', row: { id: 'u2' } }] },
        { id: 'u3', by: 'ann' },
      ]);
      includes(await session.record(), { queued: 2, runId: first.runId });
      equal((await session.view())?.queue, await session.queue());

      equal(await session.beginNext(), { kind: 'busy' });
      includes(await session.ask(first.runId, 1, []), { kind: 'committed', next: true });
      const second = await session.beginNext();
      includes(second, { kind: 'begun', run: { turn: 2, messageId: 'msg-3' } });
      includes(await session.rows(2), [{ role: 'user', id: 'u2' }]);
      includes(await session.record(), { queued: 1, status: 'starting' });
      await session.end(runOf(second), 'completed');
      const third = await session.beginNext();
      includes(third, { run: { turn: 3 } });
      equal(await session.end(runOf(third), 'completed'), { kind: 'ended', status: 'completed' });
      equal(await session.beginNext(), { kind: 'empty' });
    });

    it('what waits is bounded by its bytes, and its reader is asked about them', async (setup) => {
      const { store, session } = setup;
      await session.newRun('first');
      const large = (id: string) => userMessage(id, 'x'.repeat(LIMITS.userMessageBytes / 2));
      let count = 0;
      for (;;) {
        const sent = { messages: [large(`q${String(count)}`)], policy: 'queue' as const };
        const { kind } = await session.begin(sent);
        if (kind === 'queue_full') break;
        count += 1;
      }
      equal((await store.queue.read(session.id)).length, count);
      equal(count * LIMITS.userMessageBytes < 4 * LIMITS.queueBytes, true);
      let taken = 0;
      const meter = { take: (bytes: number) => Promise.resolve(void (taken += bytes)) };
      await store.queue.read(session.id, meter);
      const alone = taken;
      await store.sessions.view(session.id, meter);
      equal(
        [alone, taken - alone].every((bytes) => bytes >= LIMITS.queueBytes),
        true,
      );
    });

    it('notifies the workers', async ({ session, another }) => {
      const { runId } = await session.newRun('u1');
      await session.claim(session.writer(runId, 1, 1));
      const { streamManager } = await another();
      let notified = 0;
      const leave = await streamManager.onStop(session.id, () => {
        notified += 1;
      });
      await session.begin({ messages: [userMessage('u2')], policy: 'interrupt' });
      await eventually('the worker is notified', () => notified === 1);
      leave();
    });
  });

  describe('rewind', () => {
    it('repeating an older turn drops the later ones', async ({ store, session }) => {
      const first = await playTurn(session, 'u1');
      await playTurn(session, 'u2');
      await playTurn(session, 'u3');
      includes(await session.retry({ messageId: first.messageId }), {
        run: { turn: 1, messageId: 'msg-1' },
      });
      includes(await session.rows(), [{ role: 'user', id: 'u1' }]);
      equal(await session.accepted(['u1', 'u2', 'u3']), ['u1']);
      includes(await session.runs(), [
        { rewound: true },
        { rewound: true },
        { rewound: true },
        { mode: 'retry' },
      ]);
      equal(await store.checkpoints.list(session.id), { checkpoints: [] });
    });

    it('the session returns to a checkpoint with the state of that moment', async (setup) => {
      const { store, session } = setup;
      const run = await session.newRun('u1');
      await session.save({ step: 0 }, 0);
      await takeStep(session, run, 1);
      await session.save({ step: 1 }, 1);
      await takeStep(session, run, 2);
      await session.save({ step: 2 }, 2);
      await conclude(session, run, 3);
      const { checkpoints } = await store.checkpoints.list(session.id);
      const id = checkpoints.at(-1)?.id ?? '';
      const before = await session.record();
      const result = await session.rewindTo(id, { nonce: 'back' });
      includes(result, {
        kind: 'rewound',
        run: { runId: `${session.id}:2-back`, turn: 1, messageId: 'msg-1', startSequence: 0 },
      });
      const record = await session.record();
      includes(record, { runMode: 'from_checkpoint', runFromStep: 1, committedStep: 1 });
      equal(record?.born === before?.born, false);
      includes(await session.load(), { customState: { step: 1 }, version: 4 });
      includes(await session.rows(), [
        { role: 'user' },
        { role: 'assistant', step: 1 },
        { role: 'tool', output: 1 },
      ]);
      equal((await session.rows()).length, 3);
      const log = await session.log();
      equal(textIn(log).split('>').length, 2);
      equal(log.filter(({ message }) => message.type === 'tool_end').length, 1);
      includes(log.slice(-2), [
        { message: { type: 'stream_resync', reason: 'rollback', stepCount: 1 } },
        { message: { type: 'run_resumed', mode: 'from_checkpoint', fromStepCount: 1 } },
      ]);
      equal((log.at(-1)?.sequence ?? 0) > (before?.sequence ?? Infinity), true);
      includes(await store.checkpoints.list(session.id), { checkpoints: [{ id }] });
      if (result.kind !== 'rewound') throw new Error(result.kind);
      // Steps continue after the checkpoint, within the same message.
      includes(await session.claim(session.writer(result.run.runId, 2, 1)), {
        kind: 'claimed',
        rowCount: 3,
        hasDroppedCalls: true,
      });
      await conclude(session, result.run, 2);
      // A dropped checkpoint is not mistaken for the one in its place.
      equal(await store.checkpoints.get(session.id, checkpoints[1]?.id ?? ''), null);
      includes(await session.newRun('u2'), { messageId: 'msg-3', turn: 2 });
    });
  });

  describe('runs', () => {
    it('an unknown session has no runs', async ({ store, session }) => {
      equal(await store.runs.current(session.id), null);
      await refuses(session.runs(), 'not_found');
    });

    it('an ended run is listed with its error or the reason for its interruption', async (setup) => {
      const { session } = setup;
      const error = { code: 'provider_error', message: 'gone', retryable: true };
      const failed = await session.newRun();
      await session.end(failed.runId, 'failed', { error });
      await session.newRun();
      await session.stop({ reason: 'enough' });
      await session.newRun();
      includes(await session.runs(), [
        { status: 'failed', error },
        { status: 'interrupted', reason: 'enough' },
        { status: 'starting' },
      ]);
    });

    it('the newest run is listed while it is active, while it waits and after its end', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      includes(await store.runs.current(session.id), { runId, turn: 1, status: 'starting' });
      await session.ask(runId, 1, [approval('a')]);
      const waiting = { runId, status: 'waiting_approval', stepCount: 1, startSequence: 0 };
      includes(await store.runs.current(session.id), waiting);
      equal((await store.runs.current(session.id))?.endedAt, undefined);
      await session.stop();
      const ended = await store.runs.current(session.id);
      includes(ended, { runId, status: 'interrupted', stepCount: 1 });
      ok((ended?.endedAt ?? 0) > 0);
    });

    it('more than nine runs are listed oldest first', async ({ session }) => {
      const runIds: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        const { runId } = await session.newRun();
        runIds.push(runId);
        if (n < 11) await session.end(runId, n % 2 === 0 ? 'completed' : 'failed');
      }
      const runs = await session.runs();
      equal(
        runs.map(({ runId }) => runId),
        runIds,
      );
      equal(
        runs.map(({ status }) => status),
        [...runIds.slice(1).map((_, n) => (n % 2 === 0 ? 'completed' : 'failed')), 'starting'],
      );
      equal(
        runs.map(({ turn }) => turn),
        runIds.map((_, n) => n + 1),
      );
    });
  });
}
