import type { HttpAgent } from '@ag-ui/client';
import { AgentRegistry } from '../../../agents/index.js';
import { createInProcessExecutor } from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { startApi } from '../../api/api-server.js';
import { connectAgUi, run, shown, spoken } from '../../support/ag-ui-client.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { createFlags } from '../../support/gated-agent.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

// A device without news gets the stored conversation and, once, the active turn, whenever that turn
// continues.

const reached = createFlags();
const opened = createFlags();
/** `pay <gate>` asks first, `speak <gate>` speaks at once, up to the gate. */
const model = fakeModel(async function* (_n, { prompt }) {
  const wish = prompt.flatMap(({ role, content }) => (role === 'user' ? content : [])).at(-1);
  const [verb, gate = ''] = wish?.type === 'text' ? wish.text.split(' ') : [];
  if (verb === 'pay' && prompt.at(-1)?.role === 'user') {
    yield* [...parts.text('A moment.'), ...parts.call('p1', 'pay', {}), ...parts.finish()];
    return;
  }
  yield* parts.text('Once upon', 't1').slice(0, -1);
  reached.raise(gate);
  await opened.raised(gate);
  yield { type: 'text-delta', id: 't1', delta: ' a time' };
  yield { type: 'text-end', id: 't1' };
  yield* parts.finish();
});
const pay = fakeTool('pay', () => ({ paid: true }), { requireApproval: true });
const teller = fakeAgent('teller', model, { tools: [pay] });

const stores = createMemoryStores();
const executor = createInProcessExecutor({ agents: [teller], stores });
/** Runs once between a read of the conversation and the decision based on it. */
let meanwhile: (() => Promise<void>) | undefined;
const { sessions } = stores.store;
const view: typeof sessions.view = async (sessionId) => {
  const found = await sessions.view(sessionId);
  const happens = meanwhile;
  meanwhile = undefined;
  await happens?.();
  return found;
};
let url: string;
beforeAll(async () => {
  ({ url } = await startApi({
    executor,
    stores: { ...stores, store: { ...stores.store, sessions: { ...sessions, view } } },
    agents: new AgentRegistry([teller]),
  }));
});
afterAll(() => executor.close());

const connect = (threadId: string, agent?: HttpAgent): HttpAgent =>
  connectAgUi(url, threadId, agent?.messages, 'teller');

/** Opens the gate once the client has the model's text so far. */
async function openFor(agent: HttpAgent, gate: string): Promise<void> {
  await until('the client has the beginning', () => Promise.resolve(spoken(agent) === 'Once upon'));
  opened.raise(gate);
}

const ask = (agent: HttpAgent, content: string): void =>
  agent.addMessage({ id: 'u1', role: 'user', content });

it('a turn that continues while its conversation is read is shown once', async () => {
  const first = connect('t-continued');
  ask(first, 'pay g1');
  await run(first);
  const other = connect('t-continued', first);
  meanwhile = async () => {
    await (await executor.getHandle('t-continued'))?.approve('p1');
    await reached.raised('g1');
  };
  await Promise.all([run(other), openFor(other, 'g1')]);
  expect(meanwhile).toBeUndefined();
  expect(shown(other)).toEqual([
    ['assistant', 'A moment.', 'pay'],
    ['tool', '{"paid":true}'],
    ['assistant', 'Once upon a time'],
  ]);
});

it('a reply that is being written is shown by its stream alone', async () => {
  const first = connect('t-partial');
  ask(first, 'speak g2');
  const running = run(first);
  await reached.raised('g2');
  const other = connect('t-partial');
  const events = run(other);
  await openFor(other, 'g2');
  const [snapshot] = (await events).flatMap((event) => ('messages' in event ? [event] : []));
  expect(snapshot?.messages).toMatchObject([{ role: 'user' }]);
  await running;
  expect(shown(other)).toEqual([['assistant', 'Once upon a time']]);
});
