import { equal, includes, refuses } from '../assertions.js';
import { approval, server } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';

/** Plays a run with this many committed steps. */
async function commitSteps(session: SessionDriver, steps: number): Promise<string> {
  const { runId } = await session.newRun();
  for (let step = 1; step <= steps; step += 1) {
    const id = `c${runId}-${String(step)}`;
    const row = { role: 'tool' as const, toolCallId: id, toolName: 't', error: 'x' };
    await session.ask(runId, step, [server(id, { row })]);
  }
  return runId;
}

export function checkpointCases({ describe, it }: Suite): void {
  describe('checkpoints', () => {
    it('a checkpoint describes the session after its step was committed', async (setup) => {
      const { store, session } = setup;
      await refuses(store.checkpoints.latest(session.id), 'not_found');
      await refuses(store.checkpoints.list(session.id), 'not_found');
      await session.newRun();
      equal(await store.checkpoints.latest(session.id), null);
      equal(await store.checkpoints.list(session.id), { checkpoints: [] });
      await session.stop();
      const runId = await commitSteps(session, 2);
      includes(await store.checkpoints.latest(session.id), {
        id: `cpv1-${session.id}-s2-${runId.split(':')[1] ?? ''}`,
        runId,
        stepCount: 2,
        messageCount: 6,
      });
    });

    it('checkpoints are listed newest first, page by page', async ({ store, session }) => {
      await commitSteps(session, 7);
      const steps: number[] = [];
      const pages: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.checkpoints.list(session.id, {
          limit: 3,
          cursor,
        });
        steps.push(...page.checkpoints.map(({ stepCount }) => stepCount));
        pages.push(page.checkpoints.length);
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal(steps, [7, 6, 5, 4, 3, 2, 1]);
      equal(pages, [3, 3, 1]);
      equal((await store.checkpoints.list(session.id, { limit: 7 })).cursor, undefined);
    });

    it('pages of checkpoints stay consistent while new ones are added', async (setup) => {
      const { store, session } = setup;
      await commitSteps(session, 4);
      const { cursor = '' } = await store.checkpoints.list(session.id, { limit: 2 });
      await session.stop();
      await commitSteps(session, 1);
      includes(await store.checkpoints.list(session.id, { limit: 2, cursor }), {
        checkpoints: [{ stepCount: 2 }, { stepCount: 1 }],
      });
    });

    it('a checkpoint is found by its id, with the state of that moment', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.save({ at: 'commit' }, 0);
      await session.ask(runId, 1, [approval('a')]);
      await session.save({ at: 'later' }, 1);
      await session.save({ at: 'now' }, 2);
      const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
      includes(await store.checkpoints.get(session.id, id), {
        id,
        stateVersion: 1,
        customState: { at: 'commit' },
      });
      includes(await session.load(), { customState: { at: 'now' } });
    });

    it('a checkpoint of another session is not found', async ({ store, session, streamId }) => {
      await commitSteps(session, 1);
      const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
      const begun = { sessionId: streamId, agent: 'tester', owner: 'bob', nonce: 'n', now: 1 };
      const row = { role: 'user' as const, id: 'u', parts: [] };
      const messages = [{ id: 'u', hash: 'u', row, hidden: false }];
      await store.runs.begin({ ...begun, messages });
      equal(await store.checkpoints.get(streamId, id), null);
      equal(await store.checkpoints.get(session.id, 'cpv1-nothing'), null);
      await refuses(store.checkpoints.get('no-such-session', id), 'not_found');
    });

    it('a malformed cursor is refused', async ({ store, session }) => {
      await commitSteps(session, 2);
      for (const cursor of ['x', '-1', '1.5', '']) {
        await refuses(store.checkpoints.list(session.id, { cursor }), 'validation_error');
      }
      await refuses(store.checkpoints.list(session.id, { limit: -1 }), 'validation_error');
    });
  });
}
