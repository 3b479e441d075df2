import { deepStrictEqual } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import type { Suite } from '../suite.js';
import { begin, childAt, grow, newSubAgent, settleChild, type Tree } from '../tree.js';

export function subAgentCases({ describe, it }: Suite): void {
  describe('a sub-agent', () => {
    it('a sub-agent is created once, from the call that it carries out', async (setup) => {
      const { store, session } = setup;
      const { call, child } = newSubAgent(session.id, 'd1');
      const { runId } = await session.asked(call);
      equal(await begin(setup, session, runId, 'd1', child), { kind: 'begun' });
      equal(await begin(setup, session, runId, 'd1', child), { kind: 'begun' });
      // No tool carries it out.
      equal(await session.start(runId, 1, 'd1'), { kind: 'refused' });
      includes(await store.sessions.read(child.sessionId), {
        agent: 'helper',
        owner: 'ann',
        runId: child.runId,
        status: 'starting',
        parent: { sessionId: session.id, runId, toolCallId: 'd1' },
      });
      equal(await store.sessions.rows(child.sessionId, 0), [
        { role: 'user', id: 'd1', parts: [{ type: 'text', text: 'do d1' }] },
      ]);
      includes(await session.messages('subagent_start'), [
        {
          agentId: session.id,
          subAgentType: 'helper',
          subSessionId: child.sessionId,
          callId: 'd1',
        },
      ]);
    });

    it('a sub-agent writes into the stream of its conversation, with shared sequences', async (setup) => {
      const tree = await grow(setup, 2, () => []);
      const before = await setup.streamManager.inspect(tree.root.id);
      for (const { driver, ref } of tree.children) {
        const writer = driver.writer(ref.runId, 1, 1);
        includes(await driver.claim(writer), { kind: 'claimed', rowCount: 1 });
        // The sub-agent learns the sequences of all entries.
        const known = (await setup.streamManager.inspect(tree.root.id))?.sequence;
        includes(await driver.say(writer, 1, `I am ${driver.id}`, known), { kind: 'appended' });
      }
      const entries = await setup.streamManager.read(tree.root.id, before?.sequence ?? 0, 100);
      deepStrictEqual(
        entries.map(({ message }) => 'agentId' in message && message.agentId),
        tree.children.map(({ ref }) => ref.sessionId),
      );
      equal(
        await setup.streamManager.read(childAt(tree, 0).driver.id, 0, 100),
        await tree.root.log(),
      );
      // A later attempt withdraws only its own entries.
      const { driver, ref } = childAt(tree, 0);
      await driver.claim(driver.writer(ref.runId, 1, 2));
      const left = await tree.root.messages('text_delta');
      equal(
        left.map(({ delta }) => delta),
        [`I am ${childAt(tree, 1).driver.id}`],
      );
    });

    it('a sub-agent is found by the call that it carries out, also once that is settled', async (setup) => {
      const { sessions, calls } = setup.store;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await settleChild(setup, tree.root, tree.runId, 'd1');
      const asked = ['d2', 'd1', 'd9', ''];
      const found = [two.ref.sessionId, one.ref.sessionId, undefined, undefined];
      equal(await sessions.carriers(tree.root.id, asked), found);
      equal(await sessions.carriers(tree.root.id, []), []);
      // The calls belong to the conversation, not to its sub-agent.
      equal(await sessions.carriers(one.ref.sessionId, ['d1', 'd2']), [undefined, undefined]);
      // A call named like an entry of the index leads nowhere.
      const { sessionId, runId } = one.ref;
      await calls.takeId({ sessionId, runId, call: '1 x', wanted: 'carrier  d7' });
      equal(await sessions.carriers(tree.root.id, ['d7']), [undefined]);
    });

    it('a sub-agent has unique call ids', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, () => []);
      const take = async (
        child: Tree['children'][number],
        call: string,
        wanted: string,
      ): Promise<unknown> => {
        const { sessionId, runId } = child.ref;
        return store.calls.takeId({ sessionId, runId, call, wanted });
      };
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      equal(await take(one, '1 c', 'c'), { kind: 'taken', id: 'c' });
      equal(await take(one, '1 c', 'c'), { kind: 'taken', id: 'c' });
      equal(await take(two, '1 c', 'c'), { kind: 'taken', id: 'c_1' });
      equal(await take(one, '2 c', 'c'), { kind: 'taken', id: 'c_2' });
      equal(await take(two, '1 d', 'd1'), { kind: 'taken', id: 'd1_1' });
      // Calls of the conversation get other ids as well.
      const { root, runId } = tree;
      const own = { sessionId: root.id, runId, call: '2 c', wanted: 'c' };
      equal(await store.calls.takeId(own), { kind: 'taken', id: 'c_3' });
      equal(await store.calls.takeId({ ...own, runId: `${root.id}:9-x` }), { kind: 'superseded' });
      await store.sessions.erase(root.id);
      equal(await take(one, '3 c', 'c'), { kind: 'superseded' });
    });
  });
}
