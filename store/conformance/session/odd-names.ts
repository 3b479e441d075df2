import { equal, includes } from '../assertions.js';
import { approval, textChunk, textIn, userMessage } from '../fixtures.js';
import { HALF, INHERITED, ODD, whole } from '../hostile.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';

export function oddNameCases({ describe, it }: Suite): void {
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
      // Each is edited, which drops what follows it.
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
