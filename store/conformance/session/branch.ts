import { rejects } from 'node:assert/strict';
import type { Row } from '../../../protocol/rows.js';
import { equal, includes } from '../assertions.js';
import { AGENT, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import type { BranchInput } from '../../contract/sessions.js';

const big = 'x'.repeat(100_000);

const rows: Row[] = [
  userMessage('u1').row,
  {
    role: 'assistant',
    messageId: 'msg-1',
    runId: 'other:1-n',
    step: 1,
    parts: [{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: {}, kind: 'server' }],
  },
  { role: 'tool', toolCallId: 'c', toolName: 't', output: { big, list: [] } },
  {
    role: 'assistant',
    messageId: 'msg-1',
    runId: 'other:1-n',
    step: 2,
    parts: [{ type: 'text', text: 'done' }],
  },
];

function copy(sessionId: string, extra: Partial<BranchInput> = {}): BranchInput {
  return {
    sessionId,
    agent: AGENT,
    owner: 'ann',
    nonce: newNonce(),
    by: 'ann',
    rows,
    messages: [{ id: 'u1', hash: userMessage('u1').hash }],
    turn: { turn: 1, row: 0, messageId: 'msg-1', step: 2, hasReplied: true },
    visibleMessages: 2,
    state: { n: 1, list: [] },
    now: 5,
    ...extra,
  };
}

export function branchCases({ describe, it }: Suite): void {
  describe('branch', () => {
    it('a copy is an idle session with the given rows', async ({ store, session }) => {
      equal(await store.sessions.branch(copy(session.id, { nonce: 'n' })), { kind: 'branched' });
      includes(await session.record(), {
        agent: AGENT,
        owner: 'ann',
        runId: `${session.id}:0-n`,
        status: 'completed',
        stream: 'ended',
        runMode: 'branch',
        runBy: 'ann',
        turn: 1,
        messageId: 'msg-1',
        committedStep: 2,
        sequence: 0,
        createdAt: 5,
      });
      equal(await session.rows(), rows);
      includes(await session.load(), {
        customState: { n: 1, list: [] },
        version: 1,
      });
      includes(await session.runs(), [{ mode: 'branch', status: 'completed' }]);
    });

    it('a copied session continues like any other', async ({ store, session }) => {
      await store.sessions.branch(copy(session.id));
      equal(await session.begin(), { kind: 'accepted' });
      includes(await session.begin({ owner: 'eve' }), { kind: 'foreign' });
      const run = await session.newRun('u2');
      includes(run, { turn: 2, messageId: 'msg-3' });
      // The copied call already has its result.
      includes(await session.decide(run.runId, 'c', true), { kind: 'already_completed' });
      equal(run.runId.startsWith(`${session.id}:1-`), true);
      includes(await session.claim(session.writer(run.runId, 1, 1)), {
        kind: 'claimed',
        rowCount: 5,
      });
      await session.commit(session.writer(run.runId, 1, 1));
      // A copy can be rewound to its own first message.
      includes(await session.retry({ messageId: 'u1' }), { run: { turn: 1, messageId: 'msg-1' } });
      equal((await session.rows()).length, 1);
    });

    it('a copy whose turn is open is resumed after its last step', async ({ store, session }) => {
      const turn = { turn: 1, row: 0, messageId: 'msg-1', step: 1, hasReplied: true };
      const input = { rows: rows.slice(0, 3), turn, isOpen: true };
      equal(await store.sessions.branch(copy(session.id, input)), { kind: 'branched' });
      includes(await session.record(), { status: 'interrupted', stream: 'ended' });
      includes(await session.runs(), [{ mode: 'branch', status: 'interrupted' }]);
      const resumed = await store.runs.resume({
        sessionId: session.id,
        nonce: newNonce(),
        mode: 'continue',
        by: 'bob',
        now: 6,
      });
      includes(resumed, { kind: 'resumed', run: { turn: 1, messageId: 'msg-1' } });
      if (resumed.kind !== 'resumed') return;
      const claim = await session.claim(session.writer(resumed.run.runId, 2, 1));
      includes(claim, { kind: 'claimed', rowCount: 3 });
    });

    it('messages that were answered together are of one turn', async ({ store, session }) => {
      const askers = [[{ userId: 'ann' }], [{ userId: 'bob' }]];
      const users = ['u1', 'u2', 'u3'].map((id) => userMessage(id));
      const [u1, u2, u3] = users.map(({ row }) => row);
      const copied = [u1, u2, ...rows.slice(1), u3].flatMap((row) => row ?? []);
      const input = { rows: copied, messages: users, askers, visibleMessages: 4 };
      await store.sessions.branch(copy(session.id, input));
      equal(await store.sessions.askers(session.id, ['u2', 'u3']), askers);
    });

    it('each turn of a long copy is found', async ({ store, session }) => {
      const turns = Array.from({ length: 2_100 }, (_, n) => n + 1);
      const many = turns.flatMap((turn): Row[] => {
        const messageId = `msg-${String(2 * turn - 1)}`;
        const base = { role: 'assistant' as const, messageId, runId: 'other:1-n' };
        const parts = [{ type: 'text' as const, text: 'x' }];
        const first = { ...base, step: 1, parts };
        return [userMessage(`u${String(turn)}`).row, first, { ...first, step: 2 }];
      });
      const messages = turns.map((turn) => userMessage(`u${String(turn)}`));
      const input = copy(session.id, {
        rows: many,
        messages: messages.map(({ id, hash }) => ({ id, hash })),
        turn: { turn: 2_100, row: 6_297, messageId: 'msg-4199', step: 2, hasReplied: true },
        visibleMessages: 4_200,
      });
      equal(await store.sessions.branch(input), { kind: 'branched' });
      equal((await session.rows()).length, 6_300);
      const run = { turn: 120, messageId: 'msg-239' };
      includes(await session.retry({ messageId: 'u120' }), { kind: 'rewound', run });
      equal((await session.rows()).length, 358);
      equal(await session.accepted(['u1', 'u120', 'u121', 'u2100']), ['u1', 'u120']);
    });

    it('a copy is made once and never replaces an existing session', async (setup) => {
      const { store, streamManager, session } = setup;
      const input = copy(session.id);
      equal(await store.sessions.branch(input), { kind: 'branched' });
      equal(await store.sessions.branch(input), { kind: 'branched' });
      equal(await store.sessions.branch(copy(session.id)), { kind: 'exists' });
      equal((await session.rows()).length, rows.length);
      const other = drive({ store, streamManager }, newSessionId());
      await other.newRun();
      equal(await store.sessions.branch(copy(other.id)), { kind: 'exists' });
      equal((await other.rows()).length, 1);
      const stream = newSessionId();
      await streamManager.createWriter(stream, 'a', AGENT);
      equal(await store.sessions.branch(copy(stream)), { kind: 'exists' });
    });

    it('a copy has nothing of another one that was left unfinished under its id', async (setup) => {
      const { store, session } = setup;
      const first = Array.from({ length: 500 }, (_, n) => userMessage(`a${String(n)}`));
      // The process dies between the first part and the second.
      const unwritable = { ...userMessage('b').row, metadata: { n: 1n } } as Row;
      const lost = copy(session.id, {
        rows: [...rows, ...first.map(({ row }) => row), unwritable],
        messages: first.map(({ id, hash }) => ({ id, hash })),
      });
      await rejects(store.sessions.branch(lost));
      equal(await session.record(), undefined);
      equal(await store.sessions.branch(copy(session.id)), { kind: 'branched' });
      equal(await session.rows(), rows);
      equal(await session.accepted(['u1', 'a1']), ['u1']);
    });
  });
}
