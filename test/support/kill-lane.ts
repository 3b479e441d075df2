import {
  callsOf,
  CLIENT_7,
  loadChat,
  openChat,
  untilRests,
  type ChatClient,
  type Snapshot,
} from './chat-client.js';
import { newSessionId, startProduct, type Product } from './product.js';
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

/** What a page shows that is loaded when all is over. */
export interface Outcome {
  client: ChatClient;
  snapshot: Snapshot;
  sessionId: string;
}

/** A product of its own whose worker reaches Redis and Temporal through wires that can be held. */
export interface KillLane {
  readonly product: Product;
  /** Posts the message, kills the worker at that point and starts another one. */
  killAt: (message: { text: string }, point: KillPoint) => Promise<Outcome>;
  stop: () => Promise<void>;
}

export async function startKillLane(temporalAddress: string): Promise<KillLane> {
  const product = await startProduct({ temporalAddress });
  await product.kill9Worker();
  const wires: Record<KillPoint['wire'], TcpProxy> = {
    redis: await startTcpProxy(product.redisServer.port),
    temporal: await startTcpProxy(Number(temporalAddress.split(':')[1])),
  };
  const startWorker = (): Promise<void> =>
    product.startWorker({
      REDIS_URL: `redis://127.0.0.1:${String(wires.redis.port)}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${String(wires.temporal.port)}`,
    });
  await startWorker();

  async function load(sessionId: string): Promise<Outcome> {
    const { client, snapshot, resumed } = await loadChat(CLIENT_7, { url: product.url, sessionId });
    await resumed;
    return { client, snapshot, sessionId };
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

  async function untilEnded(sessionId: string): Promise<Outcome> {
    await until(
      'the run ends',
      async () => {
        const { client, snapshot } = await load(sessionId);
        await bringToRest(client);
        return snapshot.status === 'ended' || snapshot.status === 'failed';
      },
      60_000,
    );
    return load(sessionId);
  }

  return {
    product,
    killAt: async (message, { wire, nth, when }) => {
      const sessionId = newSessionId();
      const sprung = wires[wire].holdAt(wire === 'redis' ? sessionId : '', when, nth);
      const first = openChat(CLIENT_7, { url: product.url, sessionId });
      // The page may be cut off or be told to come back, which is what it does below.
      const calm = first.chat.sendMessage(message).then(() => bringToRest(first));
      const isPassed = calm.then(
        () => load(sessionId).then(({ snapshot }) => snapshot.status === 'ended'),
        () => false,
      );
      const isOver = isPassed.then(async (passed) => {
        if (!passed) await sprung;
        return passed;
      });
      if (await Promise.race([sprung.then(() => false), isOver])) {
        throw new Error('the run was over before the worker came to that point');
      }
      await product.kill9Worker();
      for (const proxy of Object.values(wires)) proxy.cut();
      await startWorker();
      const outcome = await untilEnded(sessionId);
      await calm.catch(() => undefined);
      return outcome;
    },
    stop: async () => {
      await product.stop();
      for (const proxy of Object.values(wires)) await proxy.close();
    },
  };
}
