import type { StreamChunk } from '../../../protocol/chunk.js';
import { formatApprovalId, parseApprovalId } from '../../../protocol/ids.js';
import { equal, includes, eventually } from '../assertions.js';
import { AGENT, approval, client, server, textIn, userMessage } from '../fixtures.js';
import { INHERITED, ODD, pointerTo, whole } from '../hostile.js';
import { drive } from '../session-driver.js';
import { followLog } from '../stream/collect.js';
import type { Case, Suite } from '../suite.js';
import { heldCall, newSubAgent, begin as beginChild } from '../tree.js';

/** Few sessions, since each costs as many round trips as it has calls. */
const BATCH = 10;
const BATCHES = Array.from({ length: Math.ceil(ODD.length / BATCH) }, (_, n) =>
  ODD.slice(n * BATCH, (n + 1) * BATCH),
);

export function oddCallIdCases({ describe, it }: Suite): void {
  describe('odd names', () => {
    for (const [n, ids] of BATCHES.entries()) {
      it(`odd ids of calls work like any other (${String(n + 1)})`, async (setup) => {
        const { store, streamManager, session } = setup;
        const { runId } = await session.newRun();
        const follower = followLog(streamManager, session.id);
        const calls = ids.map((id) => server(id, { toolName: id }));
        await session.ask(runId, 1, calls);
        for (const [at, id] of ids.entries()) {
          includes(await session.start(runId, 1, id), {
            kind: 'execute',
            call: { toolCallId: whole(id), toolName: whole(id) },
          });
          const writer = session.callWriter(runId, 1, id, 1);
          includes(await session.say(writer, 1, `${String(at)} `), { kind: 'appended' });
          await streamManager.append(writer, 2, [toEvent(session.id, id)], 0);
          const changes = [{ op: 'add' as const, path: pointerTo(id), value: at }];
          includes(await settle(setup, runId, id, changes), { kind: 'stored' });
          includes(await session.call(id), {
            state: 'settled',
            spec: { toolCallId: whole(id) },
          });
        }
        const entries = await session.log();
        equal(textIn(entries), ids.map((_, at) => `${String(at)} `).join(''));
        equal(
          entries.flatMap(({ writer, message }) => (message.type === 'text_delta' ? writer : [])),
          ids.map((id) => `t:${whole(id)}`),
        );
        includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
        includes(
          await session.rows(2),
          ids.map((id) => ({
            toolCallId: whole(id),
            toolName: whole(id),
            output: { [whole(id)]: whole(id) },
            events: [{ chunk: { eventName: whole(id), data: whole(id) } }],
          })),
        );
        const { customState, toolCallIds } = await store.staging.promoteSettled(session.id);
        equal(Object.entries(customState), Object.entries(stateOf(ids)));
        equal(toolCallIds, ids.map(whole));
        for (const id of ids) equal(await session.start(runId, 1, id), { kind: 'settled' });
        await eventually(
          'the follower has come to the end',
          () => follower.entries.at(-1)?.sequence === entries.at(-1)?.sequence,
        );
        await follower.stop();
        equal(follower.entries, entries);
        await session.end(runId, 'interrupted');
        includes(await session.retry(), { kind: 'rewound' });
        equal(await session.rows(), [userMessage('u1').row]);
      });

      it(`odd ids of waiting calls work like any other (${String(n + 1)})`, async (setup) => {
        const { store, session } = setup;
        const { runId } = await session.newRun();
        const toolName = 'a tool: of {two} words\n';
        await session.ask(runId, 1, [
          ...ids.map((id) => client(id, { toolName, deadlineMs: 600_000 })),
          approval('approval of all', { toolName }),
        ]);
        equal(
          Object.entries(await session.pending())
            .map(([id, call]) => [id, call.toolCallId, call.toolName])
            .sort(),
          [...ids.map(whole), 'approval of all'].map((id) => [id, id, toolName]).sort(),
        );
        equal((await store.calls.suspension(session.id))?.toolCallIds, [
          ...ids.map(whole),
          'approval of all',
        ]);
        for (const id of ids) {
          equal(await session.lease(runId, id, `page ${id}`), { kind: 'leased' });
          includes(await session.lease(runId, id, `page ${id} `), { kind: 'held' });
          equal(await session.lease(runId, id, `page ${id}`), { kind: 'leased' });
          includes(await session.extend(runId, id, 1_000), { kind: 'extended' });
          includes(await session.answer(runId, id, { output: id }), { kind: 'stored' });
          equal(await session.answer(runId, id, { output: id }), { kind: 'already_completed' });
        }
        includes(await session.decide(runId, 'approval of all', true), {
          kind: 'stored',
          resume: { step: 1, approved: ['approval of all'] },
        });
      });
    }

    it('odd names of timed-out tools appear in the note about a late answer', async (setup) => {
      const { session } = setup;
      const { runId } = await session.newRun();
      const names = ['two words', 'told', 'client x', 'approval x', 'a\nb', '__proto__', ' '];
      await session.ask(
        runId,
        1,
        names.map((name) => client(`c ${name}`, { toolName: name, deadlineMs: 1 })),
      );
      for (const name of names) {
        await eventually(
          'it is due',
          async () => (await session.expire(runId, `c ${name}`)).kind === 'stored',
        );
      }
      await session.ask(runId, 2, []);
      for (const name of names) {
        equal(await session.answer(runId, `c ${name}`, { output: 1 }), { kind: 'late' });
        equal(await session.answer(runId, `c ${name}`, { output: 1 }), { kind: 'late' });
      }
      await session.newRun('u2');
      const notes = (await session.rows()).flatMap((row) =>
        row.role === 'user' && row.hidden === true ? [row] : [],
      );
      equal(
        notes.map(({ id }) => id),
        names.map((name) => `late-c ${name}`),
      );
      for (const [at, name] of names.entries()) {
        const [part] = notes[at]?.parts ?? [];
        includes(
          part?.type === 'text' && part.text.startsWith(`The call "c ${name}" of "${name}"`),
          true,
        );
      }
    });

    it('odd ids of a sub-agent’s calls are found at the conversation', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      const { call, child } = newSubAgent(session.id, 'd\n1');
      await session.ask(runId, 1, [call, client('taken\n')]);
      equal(await beginChild(setup, session, runId, 'd\n1', child), { kind: 'begun' });
      const below = drive(setup, child.sessionId);
      const ids: string[] = [];
      for (const wanted of [...ODD.slice(0, 20), 'taken\n']) {
        const asked = {
          sessionId: child.sessionId,
          runId: child.runId,
          call: `1 ${wanted}`,
          wanted,
        };
        const taken = await store.calls.takeId(asked);
        equal(await store.calls.takeId(asked), taken);
        equal(taken, { kind: 'taken', id: wanted === 'taken\n' ? 'taken\n_1' : whole(wanted) });
        if (taken.kind === 'taken') ids.push(taken.id);
      }
      await below.ask(
        child.runId,
        1,
        ids.map((id) => heldCall(child.runId, id, 'client')),
      );
      equal(Object.keys(await session.pending()).sort(), [...ids, 'taken\n'].sort());
      for (const id of ids) {
        includes(await session.call(id), { spec: { toolCallId: id } });
        const asker = drive(setup, session.id);
        includes(await asker.answer(child.runId, id, { output: id }), { kind: 'stored' });
      }
    });

    it('odd ids of rewound calls leave no changes of the state', async ({ store, session }) => {
      await session.asked();
      for (const toolCallId of [...INHERITED, 'a/b']) {
        await store.staging.stage(session.id, 's1', { toolCallId, patches: [] });
      }
      includes(await session.retry(), { kind: 'rewound' });
      includes(await store.staging.promoteSettled(session.id), { toolCallIds: [] });
    });

    it('odd ids in approval ids can be parsed', async () => {
      for (const id of ODD) {
        const runId = 's-1:1-abc';
        equal(parseApprovalId(formatApprovalId(runId, id)), { runId, toolCallId: id });
      }
      await Promise.resolve();
    });
  });
}

function toEvent(agentId: string, name: string): StreamChunk {
  const base = { agentId, agentType: AGENT, step: 1, timestamp: 1 };
  return { type: 'custom', ...base, eventName: name, data: name };
}

function settle(
  { store, session }: Case,
  runId: string,
  id: string,
  changes: { op: 'add'; path: string; value: number }[],
): Promise<unknown> {
  const output = Object.fromEntries([[id, id]]);
  return store.calls.settle({
    source: 'tool',
    writer: session.callWriter(runId, 1, id, 1),
    toolCallId: id,
    row: { role: 'tool', toolCallId: id, toolName: id, output },
    changes,
    hasEvents: true,
    chunks: [],
    now: 1,
  });
}

function stateOf(ids: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(ids.map((id, at) => [whole(id), at]));
}
