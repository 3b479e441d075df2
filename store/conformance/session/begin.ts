import { ok } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import type { UserMessage } from '../../contract/runs.js';
import { approval, server, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';

export function beginCases({ describe, it }: Suite): void {
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

    it('who asks for a run in place of the owner is its requester', async ({ session }) => {
      const run = await session.newRun({ by: 'bob' });
      equal((await session.record())?.runBy, 'bob');
      await session.end(run.runId, 'completed');
      await session.begin({ by: 'ann', messages: [userMessage('u2')] });
      equal((await session.record())?.runBy, undefined);
    });

    it('a message leads to the newest run of its turn, and to none while it waits', async (setup) => {
      const { store, session } = setup;
      const runOf = (id: string) => store.sessions.runOf(session.id, id);
      const first = await session.newRun('u1');
      await session.enqueue('u2');
      equal(
        [await runOf('u1'), await runOf('u2'), await runOf('u3')],
        [first.runId, undefined, undefined],
      );
      await session.end(first.runId, 'failed');
      const second = await session.beginNext();
      ok(second.kind === 'begun');
      equal([await runOf('u1'), await runOf('u2')], [first.runId, second.run.runId]);
      await session.end(second.run.runId, 'interrupted');
      const resumed = await session.resume();
      ok(resumed.kind === 'resumed');
      equal([await runOf('u1'), await runOf('u2')], [first.runId, resumed.run.runId]);
      await session.end(resumed.run.runId, 'completed');
      const again = await session.retry();
      ok(again.kind === 'rewound');
      equal(await runOf('u2'), again.run.runId);
    });

    it('a message that keeps questions is refused while people are asked', async ({ session }) => {
      const { runId } = await session.asked(approval('c1'));
      const messages = [userMessage('u2')];
      equal(await session.begin({ messages, keepsQuestions: true }), { kind: 'busy' });
      equal((await session.record())?.runId, runId);
      includes(await session.begin({ messages }), {
        kind: 'begun',
        run: { supersededRunId: runId },
      });
    });

    it('of several messages only the new ones are stored', async ({ session }) => {
      const { runId } = await session.newRun('u1');
      await session.end(runId, 'completed');
      includes(await session.begin({ messages: ['u1', 'u2', 'u3'].map((id) => userMessage(id)) }), {
        kind: 'begun',
      });
      includes(await session.rows(), [{ id: 'u1' }, { id: 'u2' }, { id: 'u3' }]);
    });

    it('a hidden message before a visible accepted one counts as accepted', async ({ session }) => {
      const hidden = (id: string): UserMessage => ({ ...userMessage(id), hidden: true });
      const ids = async (): Promise<unknown[]> =>
        (await session.rows()).flatMap((row) => (row.role === 'user' ? [row.id] : []));
      includes(await session.begin({ messages: [hidden('h1'), userMessage('u1')] }), {
        kind: 'begun',
      });
      const again = [hidden('h2'), userMessage('u1')];
      equal(await session.begin({ messages: again }), { kind: 'accepted' });
      await session.stop();
      equal(await session.begin({ messages: again }), { kind: 'accepted' });
      equal(await ids(), ['h1', 'u1']);
      // What follows it is new, with or without a visible message.
      const more = [...again, hidden('h3'), userMessage('u2'), hidden('h4')];
      includes(await session.begin({ messages: more }), { kind: 'begun' });
      equal(await ids(), ['h1', 'u1', 'h3', 'u2', 'h4']);
    });

    it('a state is replaced only if the run begins', async ({ session }) => {
      const { runId } = await session.newRun('u1');
      await session.begin({ messages: [userMessage('u2')], state: { n: 'busy' } });
      await session.begin({ messages: [userMessage('u1')], state: { n: 'accepted' } });
      includes(await session.load(), { customState: {}, version: 0 });
      await session.end(runId, 'completed');
      await session.begin({ messages: [userMessage('u3')], state: { n: 1, list: [] } });
      includes(await session.load(), {
        customState: { n: 1, list: [] },
        version: 1,
      });
    });

    it('an accepted id with other content is a conflict, and nothing is stored', async (setup) => {
      const { session } = setup;
      const { runId } = await session.newRun('u1');
      await session.end(runId, 'completed');
      const other = { ...userMessage('u1'), hash: 'changed' };
      equal(await session.begin({ messages: [userMessage('u2'), other] }), {
        kind: 'conflict',
        messageId: 'u1',
      });
      equal(await session.accepted(['u2']), []);
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

    it('reply ids count the visible messages before them, not steps', async ({ session }) => {
      const ids: string[] = [];
      for (const turn of [1, 2, 3]) {
        const run = await session.newRun();
        ids.push(run.messageId);
        equal(run.turn, turn);
        const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
        await session.ask(run.runId, 1, [server(`c${run.runId}`, { row })]);
        await session.ask(run.runId, 2, []);
      }
      equal(ids, ['msg-1', 'msg-3', 'msg-5']);
    });

    it('a stopped turn without text counts as a visible message, a hidden message does not', async (setup) => {
      const { session } = setup;
      await session.newRun();
      await session.stop();
      const hidden = { ...userMessage('h'), hidden: true };
      includes(await session.begin({ messages: [hidden, userMessage('u2')] }), {
        run: { messageId: 'msg-3' },
      });
      includes(await session.rows(1), [
        { role: 'assistant', messageId: 'msg-1', display: true, parts: [] },
        { id: 'h' },
        { id: 'u2' },
      ]);
    });

    it('a run may be marked as the continuation of an ended one', async ({ session }) => {
      await session.newRun('u0');
      await session.stop();
      const sequence = (await session.record())?.sequence ?? 0;
      const resumed = { by: 'ann' };
      const result = await session.begin({ messages: [userMessage('u1')], nonce: 'n', resumed });
      includes(result, { run: { startSequence: sequence, turn: 2 } });
      const runId = `${session.id}:2-n`;
      includes(await session.messages('run_resumed'), [{ runId, step: 0, mode: 'with_message' }]);
      includes(await session.record(), {
        runMode: 'with_message',
        runBy: 'ann',
        runStartSequence: sequence,
        turnStartSequence: sequence,
        sequence: sequence + 1,
        pauseSequence: sequence,
      });
    });

    it('fields of the previous run are cleared', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'failed', {
        error: { code: 'x', message: 'y', retryable: false },
      });
      ok((await session.record())?.error);
      await session.newRun();
      const record = await session.record();
      equal([record?.error, record?.interrupted, record?.stop], [undefined, undefined, undefined]);
      includes(record, { committedStep: 0, claimedStep: 0, status: 'starting', stream: 'active' });
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
}
