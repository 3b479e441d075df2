import { z } from 'zod';
import { defineTool, type AgentScope } from '../../agents/index.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { userMessage } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

const { call, says, asks } = parts;

it('a factory is given the session, the run and the user whose agent it makes, in steps and in calls', async () => {
  const stores = await openTestStores();
  const scopes: AgentScope[] = [];
  const tool = defineTool({
    name: 'echo',
    description: 'Says it again.',
    inputSchema: z.object({}),
    execute: () => 'again',
  });
  const given = createHarness(stores, {
    model: fakeModel(sayInTurn(asks(call('c1', 'echo', {})))),
    tools: [tool],
    onScope: (scope) => scopes.push(scope),
  });
  const run = await given.begin();
  const record = await stores.store.sessions.read(given.session.id);
  const scope = { sessionId: given.session.id, runId: run.runId, userId: record?.owner };
  await given.step(run, 1);
  expect(scopes).toMatchObject([scope]);
  expect(await given.tool(run, 1, 'c1')).toBe('settled');
  expect(scopes).toMatchObject([scope, scope]);
});

it('the user is the one of this run, also where another one had a session of this id before', async () => {
  const stores = await openTestStores();
  const users: (string | undefined)[] = [];
  const say = says('hi');
  const given = createHarness(stores, {
    model: fakeModel(sayInTurn(say, say)),
    onScope: ({ userId }) => users.push(userId),
  });
  const { session } = given;
  for (const owner of ['ann', 'bob']) {
    const begun = await session.newRun({ owner, messages: [userMessage(`of-${owner}`)] });
    await given.step(begun, 1);
    await stores.store.sessions.erase(session.id);
  }
  expect([...new Set(users)]).toEqual(['ann', 'bob']);
});
