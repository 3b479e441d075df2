import { Redis } from 'ioredis';
import { z } from 'zod';
import { createSubAgentTool } from '../../agents/index.js';
import { isTerminal } from '../../protocol/run.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createFlags } from '../support/gated-agent.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { createRunHarness } from '../support/run-harness.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** A replica that lacks the last writes becomes the master while runs wait for people. */

const flags = createFlags();
const inputSchema = z.object({});

const charge = fakeTool('charge', () => 'charged', { inputSchema, requireApproval: true });

async function* ask(name: string) {
  yield* parts.text('I will ask.');
  flags.raise(name);
  await flags.raised('ask');
  yield* parts.call(`c-${name}`, 'charge', {});
  yield* parts.finish('tool-calls');
}

/** Defines an agent that asks for approval of a charge once the test lets it. */
const asking = (name: string, activities?: 'leg', maxSteps = 50) =>
  fakeAgent(
    name,
    fakeModel(() => ask(name)),
    { maxSteps, activities, tools: [charge] },
  );

const delegating = fakeAgent(
  'delegating',
  fakeModel((_, { prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? parts.says('Without it.')
      : parts.asks(parts.call('d', 'delegate', {})),
  ),
  {
    tools: [
      createSubAgentTool({
        name: 'delegate',
        description: 'Asks.',
        agent: asking('below'),
        inputSchema,
      }),
    ],
  },
);
// The agent `last` ends once its question is answered.
const AGENTS = [asking('step'), asking('leg', 'leg'), delegating, asking('last', undefined, 1)];

let servers: RedisServer[];
let wire: TcpProxy;
let stores: TestStores;

beforeAll(async () => {
  servers = await Promise.all([startRedis(), startRedis()]);
  wire = await startTcpProxy(servers[0]?.port ?? 0);
  stores = await openTestStores('worker', `redis://127.0.0.1:${String(wire.port)}`);
});
afterAll(async () => {
  await stores.close();
  await wire.close();
  await Promise.all(servers.map((server) => server.close()));
});

/** Starts a replica of the current server. */
async function startReplica(): Promise<{ leave: () => Promise<void>; promote: () => void }> {
  const master = servers.find(({ port }) => port === wire.target());
  const server = servers.find((each) => each !== master);
  const replica = new Redis(server?.url ?? '');
  // By default a master collects replicas for five seconds before it sends them its data.
  await stores.redis.config('SET', 'repl-diskless-sync-delay', '0');
  await replica.call('REPLICAOF', '127.0.0.1', String(master?.port));
  /** Waits until the replica has all writes so far. */
  const sync = (): Promise<unknown> =>
    until('the replica has it', async () => {
      const id = String(Math.random());
      await stores.redis.set('seen', id);
      return (await replica.get('seen')) === id;
    });
  await sync();
  return {
    leave: async () => {
      await sync();
      await replica.call('REPLICAOF', 'NO', 'ONE');
      replica.disconnect();
    },
    promote: () => {
      wire.retarget(server?.port ?? 0);
      wire.cut();
    },
  };
}

async function untilAsked(ids: readonly string[]): Promise<void> {
  await until('people are asked', async () => {
    const records = await Promise.all(ids.map((id) => stores.store.sessions.read(id)));
    return records.every((record) => record?.stream === 'paused');
  });
}

it.each(['that has claimed its step', 'that no worker has seen'])(
  'a run %s when the replica left, and waits for a person by now, goes on or ends as lost',
  async (how) => {
    const runs = await createRunHarness(stores, AGENTS);
    const hasClaimed = how === 'that has claimed its step';
    if (hasClaimed) await runs.startWorker();
    const replica = await startReplica();
    const begun = await Promise.all(
      AGENTS.map(({ name }) => runs.begin(runs.newSessionId(), name, 'go')),
    );
    const ids = begun.map(({ sessionId }) => sessionId);
    const speakers = ['step', 'leg', 'below', 'last'];
    if (hasClaimed) await Promise.all(speakers.map((name) => flags.raised(name)));
    await replica.leave();
    if (!hasClaimed) await runs.startWorker();
    flags.raise('ask');
    await untilAsked(ids);
    replica.promote();
    for (const run of begun) {
      const { sessionId, agent } = run;
      const record = await runs.sweepUntil(
        sessionId,
        `the run of ${agent} is over`,
        (found) => isTerminal(found.status) && found,
      );
      // The replica has the delegation, so only the sub-agent has lost state.
      if (hasClaimed && agent === 'delegating') {
        expect(record.status).toBe('completed');
        expect(await stores.store.sessions.rows(sessionId, 2, 3)).toMatchObject([
          { toolName: 'delegate', errorCode: 'subagent_failed' },
        ]);
      } else {
        expect(record.error).toMatchObject({ code: 'state_lost' });
        expect(await runs.result(run)).toEqual({ failed: 'state_lost' });
      }
      await runs.begin(sessionId, agent, 'again');
    }
  },
);
