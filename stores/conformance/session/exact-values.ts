import type { StreamChunk } from '../../../protocol/chunk.js';
import type { Decision, Row, ToolRow } from '../../../protocol/rows.js';
import { equal, includes } from '../assertions.js';
import { AGENT, assistantRow, newCall, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { EXACT } from '../hostile.js';
import type { Case, Suite } from '../suite.js';

const DECISION: Decision = { approved: true, at: 1, by: 'ann', reason: '', input: EXACT };

/** How an approved call ends, and the code with which it is settled. */
const ENDS: [name: string, code: string, end: (setup: Case, runId: string) => Promise<unknown>][] =
  [
    ['stop before it starts', 'run_stopped', ({ session }) => session.stop()],
    [
      'stop while it is carried out',
      'tool_outcome_unknown',
      async ({ session }, runId) => {
        await session.start(runId, 1, 'a');
        await session.stop();
      },
    ],
    [
      'loss of its worker',
      'tool_outcome_unknown',
      async ({ session }, runId) => {
        await session.start(runId, 1, 'a', 1);
        equal(await session.start(runId, 1, 'a', 2), { kind: 'settled' });
        await session.claim(session.writer(runId, 2, 1));
      },
    ],
    [
      'end of its run',
      'tool_outcome_unknown',
      async ({ session }, runId) => {
        await session.start(runId, 1, 'a');
        await session.end(runId, 'failed');
      },
    ],
    [
      'abort',
      'tool_outcome_unknown',
      async ({ session }, runId) => {
        await session.start(runId, 1, 'a');
        await session.stop({ mode: 'abort' });
      },
    ],
  ];

export function exactValueCases({ describe, it }: Suite): void {
  describe('an approved input', () => {
    for (const [name, code, end] of ENDS) {
      it(`an approved input is kept with long digits and empty lists: ${name}`, async (setup) => {
        const { store, session } = setup;
        const { runId } = await session.newRun();
        await session.ask(runId, 1, [newCall('a', 'approval')]);
        await approve(setup, runId);
        await end(setup, runId);
        includes(toolRows(await store.sessions.rows(session.id, 0)), [
          { toolCallId: 'a', errorCode: code, decision: DECISION },
        ]);
      });
    }

    it('an approved input is kept unchanged while the call waits for others, is executed or is abandoned', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('b', 'approval')]);
      await approve(setup, runId);
      includes((await store.calls.pending(session.id))['a'], { response: { decision: DECISION } });
      includes(await session.messages('tool_approval_response'), [{ input: EXACT }]);
      // The new message abandons the open call.
      includes(await session.begin({ messages: [userMessage('u2')] }), { kind: 'begun' });
      includes(toolRows(await store.sessions.rows(session.id, 0)), [
        { errorCode: 'client_tool_abandoned', decision: DECISION },
        { errorCode: 'client_tool_abandoned' },
      ]);
    });

    it('an approved input is the one that the tool gets', async (setup) => {
      const { session } = setup;
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval', { input: EXACT })]);
      await approve(setup, runId);
      const started = await session.start(runId, 1, 'a');
      includes(started, { kind: 'execute', call: { input: EXACT }, decision: DECISION });
    });

    it('the input of a decision made without a person is kept', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const decision: Decision = { approved: true, at: 1234567890123, automatic: true };
      await session.ask(runId, 1, [newCall('s', 'server', { decision, input: EXACT })]);
      await session.start(runId, 1, 's');
      await session.stop();
      const [row] = toolRows(await store.sessions.rows(session.id, 0));
      equal(row?.decision, decision);
    });
  });

  describe('empty lists and long numbers', () => {
    it('empty lists and long numbers are kept in everything that a session stores', async (setup) => {
      const { store, streamManager, session } = setup;
      const message = { ...userMessage('u1'), row: toUserRow('u1') };
      const begun = await session.begin({ messages: [message], state: EXACT });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      const { runId } = begun.run;
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await streamManager.append(writer, 1, [toEvent(session.id)], 0);
      const calls = [
        newCall('s', 'server', { input: EXACT }),
        newCall('t', 'server', { input: {} }),
        newCall('c', 'client', { input: { list: [] } }),
      ];
      const reply = assistantRow(writer, calls);
      reply.parts.push({ type: 'text', text: '', providerMetadata: { model: EXACT } });
      await session.commit(writer, { row: reply, calls });
      await session.start(runId, 1, 's');
      await session.start(runId, 1, 't');
      await session.finishCall(runId, 1, 's', EXACT);
      await session.finishCall(runId, 1, 't', []);
      await session.answer(runId, 'c', { output: {} });
      const last = session.writer(runId, 2, 1);
      await session.claim(last);
      await session.enqueue('u2');
      await session.commit(last, { output: EXACT });

      const rows = await store.sessions.rows(session.id, 0);
      equal(rows[0], toUserRow('u1'));
      equal(rows[1], reply);
      equal(
        toolRows(rows).map(({ output }) => output),
        [EXACT, [], {}],
      );
      includes(rows.at(-1), { output: EXACT });
      includes(await store.sessions.read(session.id), { output: EXACT });
      includes(await store.runs.list(session.id), [{ output: EXACT }]);
      includes(await session.messages('custom'), [{ data: EXACT }]);
      includes(await session.messages('tool_end'), [{ result: EXACT }, { result: [] }]);
      includes(await session.messages('output'), [{ output: EXACT }]);
      includes(await session.messages('stream_end'), [{ finalOutput: EXACT }]);
      equal((await store.documents.readState(session.id)).customState, EXACT);
      const { checkpoints } = await store.checkpoints.list(session.id);
      const first = checkpoints.at(-1)?.id ?? 'none';
      equal((await store.checkpoints.get(session.id, first))?.customState, EXACT);

      const copy = newSessionId();
      await store.sessions.branch({
        sessionId: copy,
        agent: AGENT,
        owner: 'ann',
        nonce: newNonce(),
        rows,
        messages: [],
        turn: { turn: 1, row: 0, messageId: 'msg-1', step: 2, hasReplied: true },
        visibleMessages: 2,
        state: EXACT,
        now: 1,
      });
      equal(await store.sessions.rows(copy, 0), rows);
      equal((await store.documents.readState(copy)).customState, EXACT);
      await session.rewindTo(first);
      equal((await store.documents.readState(session.id)).customState, EXACT);
      equal(await store.sessions.rows(session.id, 0), rows.slice(0, 5));
    });

    it('empty lists and long numbers are kept in queued messages that are edited and then answered', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const waiting = { ...userMessage('u2'), row: toUserRow('u2') };
      await session.begin({ messages: [waiting], policy: 'queue', by: 'ann' });
      equal((await store.queue.read(session.id))[0]?.messages, [waiting]);
      const edited = { ...waiting, hash: 'other', row: { ...toUserRow('u2'), hidden: true } };
      const { hash } = waiting;
      await store.queue.edit({
        sessionId: session.id,
        message: edited,
        expectedHash: hash,
        now: 1,
      });
      equal((await store.queue.read(session.id))[0]?.messages, [{ ...edited, hidden: false }]);
      await session.steer('u3');
      await session.end(runId, 'completed');
      includes(await session.beginNext(), { kind: 'begun' });
      await session.end((await store.sessions.read(session.id))?.runId ?? '', 'completed');
      includes(await session.beginNext(), { kind: 'begun' });
      includes(await store.sessions.rows(session.id, 0), [{ id: 'u1' }, { id: 'u3' }, edited.row]);
    });

    it('empty lists and long numbers are kept in the events of a lost call and in the reverted state changes', async (setup) => {
      const { store, streamManager, session } = setup;
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      const writer = session.callWriter(runId, 1, 's', 1);
      const patch = { op: 'add' as const, path: '/list', value: EXACT };
      await streamManager.append(
        writer,
        1,
        [
          toEvent(session.id),
          {
            type: 'state_patch',
            agentId: session.id,
            agentType: AGENT,
            step: 1,
            timestamp: 1,
            patches: [patch],
            undo: JSON.stringify([
              { ...patch, op: 'replace' },
              { op: 'remove', path: '/x' },
            ]),
          },
        ],
        0,
      );
      await session.start(runId, 1, 's', 2);
      await session.claim(session.writer(runId, 2, 1));
      const [row] = toolRows(await store.sessions.rows(session.id, 0));
      equal(row?.errorCode, 'tool_outcome_unknown');
      equal(
        row?.events?.map(({ chunk }) => chunk.data),
        [EXACT],
      );
      const patches = await session.messages('state_patch');
      equal(
        patches.map((entry) => entry.patches),
        [
          [patch],
          [
            { ...patch, op: 'replace' },
            { op: 'remove', path: '/x' },
          ],
        ],
      );
    });
  });
}

function approve({ store, session }: Case, runId: string): Promise<unknown> {
  const base = { agentId: session.id, agentType: AGENT, step: 1, timestamp: 1 };
  const asked = { toolCallId: 'a', toolName: 'approval-tool', approvalId: 'x' };
  const { approved, input } = DECISION;
  return store.calls.settle({
    source: 'approval',
    sessionId: session.id,
    agentType: AGENT,
    toolCallId: 'a',
    runId,
    decision: DECISION,
    permitted: true,
    chunks: [{ type: 'tool_approval_response', ...base, ...asked, approved, input }],
    now: 1,
  });
}

function toUserRow(id: string): Extract<Row, { role: 'user' }> {
  return { role: 'user', id, parts: [], metadata: { ...EXACT, parts: [], hidden: [] } };
}

function toEvent(agentId: string): StreamChunk {
  const base = { agentId, agentType: AGENT, step: 1, timestamp: 1 };
  return { type: 'custom', ...base, eventName: 'e', data: EXACT };
}

function toolRows(rows: readonly Row[]): ToolRow[] {
  return rows.filter((row): row is ToolRow => row.role === 'tool');
}
