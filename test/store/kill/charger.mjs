// An API process that dies at a known moment: it accepts a message and halts before the named step,
// `begin` or `fold`, until it is killed. It reports the halt to its parent.
import { limits, toQuotas } from '../../../dist/extensions/limits/index.js';
import { createRuns } from '../../../dist/runs/create-runs.js';
import { createRedisStores } from '../../../dist/store/redis/index.js';

const { url, sessionId, owner, tenant, restBefore } = JSON.parse(process.argv[2]);
const { store, streamManager } = createRedisStores({ url, whenAway: 'wait' });
process.once('disconnect', () => process.exit());

function rest() {
  process.send({ did: 'rest' });
  return new Promise(() => {});
}

const { owners } = store;
const dying = {
  ...store,
  // The API makes its changes through a listener.
  listening: (listener) => {
    const { runs, ...changes } = store.listening(listener);
    return { ...changes, runs: { ...runs, ...(restBefore === 'begin' && { begin: rest }) } };
  },
  owners: {
    ...owners,
    ...(restBefore === 'fold' && { fold: rest }),
  },
};
const row = { role: 'user', id: 'u1', parts: [{ type: 'text', text: 'x'.repeat(1_000) }] };
await createRuns({
  store: dying,
  streamManager,
  workflows: {
    start: () => Promise.resolve(),
    look: () => Promise.resolve({ state: 'running', started: [], children: [] }),
    fleet: 'f',
  },
  agents: { resolve: () => ({ name: 'tester' }) },
  searchAttributes: false,
  extensions: [limits({ quotas: toQuotas({ runs: 1 }) })],
  logger: { warn: () => undefined },
}).execute({
  sessionId,
  agent: 'tester',
  owner,
  tenant,
  messages: [{ id: 'u1', hash: 'h', row, hidden: false }],
});
