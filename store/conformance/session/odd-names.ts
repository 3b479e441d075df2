import type { StreamChunk } from '../../../protocol/chunk.js';
import { formatApprovalId, parseApprovalId } from '../../../protocol/ids.js';
import { equal, eventually, includes } from '../assertions.js';
import { AGENT, approval, client, server, textChunk, textIn, userMessage } from '../fixtures.js';
import { HALF, INHERITED, ODD, pointerTo, whole } from '../hostile.js';
import { drive } from '../session-driver.js';
import { followLog } from '../stream/collect.js';
import type { Case, Suite } from '../suite.js';
import { begin as beginChild, heldCall, newSubAgent } from '../tree.js';

/** Number of names per session; each costs several round trips. */
const BATCH = 10;
const BATCHES = Array.from({ length: Math.ceil(ODD.length / BATCH) }, (_, n) =>
  ODD.slice(n * BATCH, (n + 1) * BATCH),
);

function oddCallIdCases({ describe, it }: Suite): void {
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
      const { call, child } = newSubAgent(session.id, 'd\n1');
      const { runId } = await session.asked(call, client('taken\n'));
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

function oddNameCases({ describe, it }: Suite): void {
  describe('odd names', () => {
    it('odd ids of user messages work like any other', async ({ session }) => {
      const ids = ODD.filter((id) => id !== 'msg-1');
      const messages = ids.map((id) => ({ ...userMessage(id), hash: `hash of ${id}` }));
      includes(await session.begin({ messages }), { kind: 'begun' });
      equal(await session.begin({ messages }), { kind: 'accepted' });
      equal(await session.accepted([...ids, 'other']), ids.map(whole));
      for (const message of messages.slice(0, 5)) {
        const other = { ...message, hash: 'other' };
        includes(await session.begin({ messages: [other] }), { kind: 'conflict' });
      }
      includes(
        await session.rows(),
        ids.map((id) => ({ id: whole(id), parts: [{ text: whole(`hello from ${id}`) }] })),
      );
      const runId = (await session.record())?.runId ?? '';
      await session.ask(runId, 1, []);
      // Each edit drops everything after its message.
      for (const [at, id] of ids.entries()) {
        if (at % 4 !== 3) continue;
        const edited = { ...userMessage(`${id}!`), hash: 'edited' };
        const place = ids.length - 1 - at;
        const target = ids[place] ?? '';
        const result = await session.retry({ messageId: target, messages: [edited] });
        includes(result, { kind: 'rewound' });
        const rows = await session.rows();
        equal(rows.length, place + 1);
        includes(rows.at(-1), { id: whole(`${id}!`) });
        equal(await session.accepted([target]), []);
        await session.end(result.kind === 'rewound' ? result.run.runId : '', 'interrupted');
      }
    });

    it('odd ids of queued messages work like any other', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const ids = [...INHERITED, 'a b', 'a\nb', '","messages":', '{"id":"x"', `h${HALF}`, '\u0000'];
      for (const id of ids) {
        const messages = [{ ...userMessage(id), hash: id }];
        includes(await session.begin({ messages, policy: 'queue', by: id }), { kind: 'queued' });
      }
      equal(
        (await session.queue()).map(({ id, by, messages }) => [id, by, messages[0]?.id]),
        ids.map(whole).map((id) => [id, id, id]),
      );
      const [first = '', second = ''] = ids;
      const edited = { ...userMessage(second), hash: 'other' };
      equal(
        await store.queue.edit({
          sessionId: session.id,
          message: edited,
          expectedHash: second,
          now: 1,
        }),
        { kind: 'edited' },
      );
      includes(await store.queue.remove({ sessionId: session.id, messageId: first, now: 1 }), {
        kind: 'removed',
      });
      equal((await session.queue()).length, ids.length - 1);
      await session.steer('steers');
      await session.end(runId, 'completed');
      for (const id of ['steers', ...ids.slice(1)]) {
        const begun = await session.beginNext();
        includes(begun, { kind: 'begun' });
        includes((await session.rows()).at(-1), { id: whole(id) });
        if (begun.kind === 'begun') await session.end(begun.run.runId, 'completed');
      }
    });

    it('odd names of owners, tenants and people stay distinct', async (setup) => {
      const { store, session } = setup;
      const owners = ['a', 'a:b', 'b', '%3A', '{a}', 'a\nb', `a${HALF}`, '__proto__', ''];
      const made: [string, string, string][] = [];
      for (const [at, owner] of owners.entries()) {
        for (const tenant of ['', 'a', `b:${owner}`].slice(0, at < 3 ? 3 : 1)) {
          const other = drive(setup);
          const run = await other.newRun({ owner, tenant, by: owner });
          await other.ask(run.runId, 1, [approval('a')]);
          includes(await other.begin({ owner: `${owner} `, tenant }), { kind: 'foreign' });
          includes(await other.record(), { owner: whole(owner) });
          made.push([owner, tenant, other.id]);
        }
      }
      for (const [owner, tenant, id] of made) {
        const of = { owner, ...(tenant !== '' && { tenant }) };
        const { sessions } = await store.waiting.page(of, { limit: 100 });
        const found = sessions.map(({ record }) => record.sessionId);
        includes(found.includes(id), true);
        for (const [, , foreign] of made) {
          if (foreign !== id) includes(found.includes(foreign), false);
        }
        await store.sessions.erase(id);
      }
      equal(await session.record(), undefined);
    });

    it('odd names of writers without a run work like any other', async (setup) => {
      const { streamManager, streamId } = setup;
      const names = ODD.filter((name) => name.length <= 254);
      for (const [at, name] of names.entries()) {
        const options = { name, attempt: 1 };
        const writer = await streamManager.createWriter(streamId, name, name, options);
        await writer.write({ ...textChunk(`${String(at)} `), agentId: name, agentType: name });
        await writer.close();
      }
      const log = await streamManager.read(streamId, 0, 1_000);
      equal(textIn(log), names.map((_, at) => `${String(at)} `).join(''));
      equal(
        log.map(({ writer }) => writer),
        names.map((name) => `w:${whole(name)}`),
      );
    });
  });
}

export function oddNamesCases(suite: Suite): void {
  oddCallIdCases(suite);
  oddNameCases(suite);
}
