import {
  callsOf,
  CLIENT_7,
  loadChat,
  openChat,
  untilRests,
  type ChatClient,
  type Snapshot,
} from './chat-client.js';
import { LAB_AGENTS, type LabAgent } from './lab-agents.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from './product.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

/**
 * Where a worker dies: at its nth message to an engine after the post. Messages to Redis count if
 * they name the conversation; those to Temporal are compressed, so that all of them count.
 */
export interface KillPoint {
  wire: 'redis' | 'temporal';
  nth: number;
  /** `before`: the message does not arrive. `after`: it arrives, and its answer does not. */
  when: 'before' | 'after';
}

/** What people do: at first undisturbed, then while a worker dies. */
export interface Scenario {
  agent: LabAgent;
  prepare?: (page: Page) => Promise<unknown>;
  act: (page: Page) => Promise<unknown>;
}

/** A chat in the browser, and what is needed to do things past it. */
export interface Page {
  client: ChatClient;
  url: string;
  sessionId: string;
}

/** What a page shows that is loaded when all is over. */
export interface Outcome {
  client: ChatClient;
  snapshot: Snapshot;
  sessionId: string;
  product: Product;
}

/** `npm run kill -- --all` tries every place to die at, `npm test` a few. */
export const KILLS_EVERYWHERE = process.env['KILL_POINTS'] === 'all';

/** The shapes that die at a point: both, or one after the other from point to point. */
export function shapesOf(index: number): readonly LabAgent[] {
  return LAB_AGENTS.filter((_, nth) => KILLS_EVERYWHERE || nth === index % LAB_AGENTS.length);
}

/** Products whose workers reach Redis and Temporal through wires that can be held. */
export interface KillLanes {
  /** Plays the scenario, kills the worker at that point and starts another one. */
  killAt: (scenario: Scenario, point: KillPoint) => Promise<Outcome>;
  stop: () => Promise<void>;
}

/** Most of the time of a point is waiting for time-outs, so that several are tried side by side. */
const LANES = 2;

export async function startKillLanes(): Promise<KillLanes> {
  const lanes = await Promise.all(Array.from({ length: LANES }, (_, n) => startKillLane(n > 0)));
  const queues = lanes.map((lane) => ({ lane, last: Promise.resolve() }));
  return {
    killAt: (scenario, point) => {
      const queue = queues.shift();
      if (queue === undefined) throw new Error('there are no lanes');
      queues.push(queue);
      const outcome = queue.last.then(() => queue.lane.killAt(scenario, point));
      queue.last = outcome.then(
        () => undefined,
        () => undefined,
      );
      return outcome;
    },
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
}

function isOver({ snapshot: { status, queue } }: Outcome): boolean {
  return (status === 'ended' || status === 'failed') && (queue ?? []).length === 0;
}

/** @param isSupervised a supervisor says which worker has ended; else the lease of the dead one has to lapse */
async function startKillLane(isSupervised: boolean): Promise<KillLanes> {
  const temporalAddress = sharedTemporal();
  const product = await startProduct({ worker: false });
  const wires: Record<KillPoint['wire'], TcpProxy> = {
    redis: await startTcpProxy(product.redisServer.port),
    temporal: await startTcpProxy(Number(temporalAddress.split(':')[1])),
  };
  const startWorker = (): Promise<void> =>
    product.startWorker({
      ...(!isSupervised && { ENDED_LEASE_ID: 'none' }),
      REDIS_URL: `redis://127.0.0.1:${String(wires.redis.port)}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${String(wires.temporal.port)}`,
    });
  await startWorker();

  async function load(sessionId: string, agent: LabAgent): Promise<Outcome> {
    const { client, snapshot, resumed } = await loadChat(CLIENT_7, {
      url: product.url,
      sessionId,
      agent,
    });
    await resumed;
    return { client, snapshot, sessionId, product };
  }

  /** Approves what the page is asked, until its conversation rests. */
  async function bringToRest(client: ChatClient): Promise<void> {
    for (;;) {
      await untilRests(client, product.url);
      const asked = callsOf(client.chat.lastMessage).find(
        ({ state }) => state === 'approval-requested',
      );
      if (asked?.state !== 'approval-requested') return;
      await client.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    }
  }

  async function untilEnded(sessionId: string, agent: LabAgent): Promise<Outcome> {
    await until(
      'the run ends',
      async () => {
        const found = await load(sessionId, agent);
        await bringToRest(found.client);
        return isOver(found);
      },
      60_000,
    );
    return load(sessionId, agent);
  }

  return {
    killAt: async ({ agent, prepare, act }, { wire, nth, when }) => {
      const { url } = product;
      const sessionId = newSessionId();
      const client = openChat(CLIENT_7, { url, sessionId, agent });
      const page = { client, url, sessionId };
      await prepare?.(page);
      const sprung = wires[wire].holdAt(wire === 'redis' ? sessionId : '', when, nth);
      // The page may be cut off or asked to reconnect, which it does below.
      const calm = act(page).then(() => bringToRest(client));
      const over = calm.then(
        async () => {
          if (isOver(await load(sessionId, agent)))
            throw new Error('the worker never reached that point');
        },
        () => undefined,
      );
      await Promise.race([sprung, over.then(() => sprung)]);
      await product.kill9Worker();
      for (const proxy of Object.values(wires)) proxy.cut();
      await startWorker();
      const outcome = await untilEnded(sessionId, agent);
      await calm.catch(() => undefined);
      return outcome;
    },
    stop: async () => {
      await product.stop();
      for (const proxy of Object.values(wires)) await proxy.close();
    },
  };
}
