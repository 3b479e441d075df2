import type { LegOutcome, LegRef } from '../../protocol/temporal.js';
import type { Times } from '../../protocol/limits.js';
import {
  CLIENT_7,
  isBusy,
  loadChat,
  openChat,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { createHistoryReader, type HistoryEvent } from '../support/history-of.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { scrape, type Scrape } from '../support/scrape.js';
import { postMessage, type SseReader } from '../support/sse-reader.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { createFleet, type FleetWorker, type WorkerFleet } from '../support/worker-fleet.js';
import { storedCall, storedRecord } from '../support/stored-record.js';

/** What a dead, blocked or silent worker had begun is given to another one soon. */
const HELIX_TIMES = JSON.stringify({
  unseenMs: 1_000,
  patientMs: 3_000,
  unresponsiveMs: 2_400,
  workflowTaskMs: 2_000,
} satisfies Partial<Times>);
/**
 * Below the 90 s of heartbeats. A take-over by lease takes 1.8 s on an idle machine, and longer if
 * the next attempt goes to an open poll of the worker that stands still.
 */
const SOON_MS = 60_000;
const FIRST = 'The first attempt says this. '.repeat(20);
const SECOND = 'The second attempt says that.';

interface Place {
  product: Product;
  /** A worker that survives a test serves the next one. */
  fleet: WorkerFleet;
  /** The way to Redis of all workers that are not given another one. */
  wire: TcpProxy;
  post: (agent: string, ...script: object[]) => Promise<{ sessionId: string; reader: SseReader }>;
  /** Starts a reply of eighty seconds, which a second attempt shortens. */
  speak: () => Promise<string>;
  logOf: (sessionId: string) => Promise<string>;
  callOf: (sessionId: string) => Promise<string | undefined>;
  untilTakenOver: (sessionId: string) => Promise<void>;
  untilStatus: (sessionId: string, status: string) => Promise<void>;
  close: () => Promise<void>;
}

async function openPlace(): Promise<Place> {
  const product = await startProduct({ worker: false, env: { HELIX_TIMES } });
  const wire = await startTcpProxy(product.redisServer.port);
  const fleet = createFleet(product, {
    REDIS_URL: `redis://127.0.0.1:${String(wire.port)}`,
    WORKER_METRICS_PORT: '0',
    HELIX_TIMES,
    // SIGUSR1 blocks the main thread for a minute.
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
      "process.on('SIGUSR1', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000));",
    )}`,
  });
  const post: Place['post'] = async (agent, ...script) => {
    const sessionId = newSessionId();
    const message = { id: 'u1', text: JSON.stringify({ script }) };
    return { sessionId, reader: await postMessage(product.url, sessionId, message, {}, agent) };
  };
  const logOf = async (sessionId: string): Promise<string> =>
    JSON.stringify(await product.redis.xrange(`hx:{${sessionId}}:stream`, '-', '+'));
  return {
    product,
    fleet,
    wire,
    post,
    speak: async () => {
      const attempts = [{ say: FIRST, deltas: 400, everyMs: 200 }, {}];
      const { sessionId, reader } = await post('lab', { say: SECOND, deltas: 1, attempts });
      await until('the first attempt speaks', () => reader.text().includes('The first'));
      return sessionId;
    },
    logOf,
    callOf: async (sessionId) => (await storedCall(product.redis, sessionId, 'c1'))?.state,
    untilTakenOver: async (sessionId) => {
      const isTaken = async (): Promise<boolean> => (await logOf(sessionId)).includes(SECOND);
      await until('the second attempt speaks', isTaken, SOON_MS);
      expect(await logOf(sessionId)).not.toContain('The first');
    },
    untilStatus: async (sessionId, status) => {
      const statusOf = async () => (await storedRecord(product.redis, sessionId))?.run.status;
      await until(`the run is ${status}`, async () => (await statusOf()) === status, SOON_MS);
    },
    close: async () => {
      await fleet.stop();
      await wire.close();
      await product.stop();
    },
  };
}

let shared: Place;
let historyOf: (sessionId: string) => Promise<HistoryEvent[]>;
beforeAll(async () => {
  shared = await openPlace();
  historyOf = createHistoryReader(shared.product);
});
afterAll(() => shared.close());

async function scrapeOf(worker: FleetWorker | undefined): Promise<Scrape> {
  const { metricsPort } = (await worker?.says('worker runs')) ?? {};
  return scrape(metricsPort);
}

/** Kind of a task queue that one worker alone asks, for the runs that it has cached. */
const STICKY = 2;

/** Returns the workflow tasks that waited in vain for the first worker of a run after its death. */
async function waitedForDead(sessionId: string, diedAt: number): Promise<HistoryEvent[]> {
  const events = await historyOf(sessionId);
  const queueOf = ({ workflowTaskScheduledEventAttributes: task }: HistoryEvent) => task?.taskQueue;
  const cached = events.filter((event) => Number(queueOf(event)?.kind) === STICKY);
  const [first] = cached;
  const late = cached.filter(
    (event) =>
      queueOf(event)?.name === (first && queueOf(first)?.name) &&
      Number(event.eventTime?.seconds) * 1_000 > diedAt,
  );
  const ids = late.map(({ eventId }) => String(eventId));
  return events.filter(({ workflowTaskTimedOutEventAttributes: timeout }) =>
    ids.includes(String(timeout?.scheduledEventId)),
  );
}

describe('a worker that is killed', () => {
  let speaking: string;
  let stepping: string;
  let asking: string;
  let dead: FleetWorker;
  let diedAt: number;
  /** What the successor counts until both are taken over; later tests give it more to count. */
  let before: Scrape;
  let after: Scrape;
  const RUNS = 2;
  // One kill hits a step, a leg, and a run that waits.
  beforeAll(async () => {
    const { fleet, post, speak, untilStatus, untilTakenOver } = shared;
    dead = await fleet.start();
    ({ sessionId: asking } = await post('lab', { calls: [charge('c1')] }, { say: 'Charged.' }));
    await untilStatus(asking, 'waiting_approval');
    await until('the run, which the worker has cached, rests', async () => {
      const events = await historyOf(asking);
      const last = events.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
      return !events
        .slice(last)
        .some(
          (event) =>
            event.workflowTaskScheduledEventAttributes ??
            event.activityTaskScheduledEventAttributes,
        );
    });
    const call = (id: string) => ({ calls: [{ tool: 'echo', id, args: { value: 1 } }] });
    const attempts = [{ say: 'First.', hangMs: 120_000 }, {}];
    const last = { say: 'Second.', deltas: 1, attempts };
    ({ sessionId: stepping } = await post('lab-leg', call('a'), call('b'), last));
    await until('two steps are left', async () => {
      const [[, work] = []] = await fleet.workOf(stepping);
      const { steps = [] } = (work?.progress ?? {}) as Partial<LegOutcome>;
      return steps.length === 2 && steps[1]?.calls?.length === 1;
    });
    speaking = await speak();
    const successor = await fleet.start();
    before = await scrapeOf(successor);
    await dead.kill9();
    diedAt = Date.now();
    await untilTakenOver(speaking);
    after = await until('the runs are counted', async () => {
      const scraped = await scrapeOf(successor);
      const counts = ['helix_runs_ended_total', 'helix_take_overs_total'] as const;
      return counts.every((name) => scraped.sum(name) === RUNS) ? scraped : undefined;
    });
  });

  it('its step is taken over by another worker', async () => {
    const { fleet, untilStatus } = shared;
    for (const id of [speaking, stepping]) {
      await untilStatus(id, 'completed');
      await until('nothing is left', async () => (await fleet.workOf(id)).length === 0);
      // The server would have waited for the dead worker, which had cached the run.
      expect(await waitedForDead(id, diedAt)).toEqual([]);
    }
    // The successor counts the death, and each run ends only once.
    for (const [expected, name, labels] of [
      [RUNS, 'helix_runs_ended_total', { status: 'completed' }],
      [1, 'helix_lease_judgements_total'],
      [RUNS, 'helix_take_overs_total', { outcome: 'done' }],
      [RUNS, 'helix_step_attempts_total', { outcome: 'committed' }],
      // The dead worker's model calls never ended, so no process counted them.
      [RUNS, 'gen_ai_client_inference_duration_seconds_count'],
    ] as const) {
      const counted = (after.sum(name, labels) ?? 0) - (before.sum(name, labels) ?? 0);
      expect([name, counted]).toEqual([name, expected]);
    }
  });

  it('its leg leaves its steps, and how far the log has come, to its successor', async () => {
    await shared.untilStatus(stepping, 'completed');
    const events = await until('its leg has ended', async () => {
      const all = await historyOf(stepping);
      return all.some((event) => event.workflowExecutionCompletedEventAttributes) ? all : undefined;
    });
    const results = events.flatMap(({ activityTaskCompletedEventAttributes: ended }) =>
      ended == null ? [] : [parse(ended.result?.payloads?.[0]) as LegOutcome],
    );
    expect(results.at(-1)?.steps).toMatchObject([
      { step: 1, model: expect.any(String), calls: [{ tool: 'echo', outcome: 'ok' }] },
      { step: 2, model: expect.any(String), calls: [{ tool: 'echo', outcome: 'ok' }] },
      { step: 3, model: expect.any(String) },
    ]);
    const asked = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled == null ? [] : [parse(scheduled.input?.payloads?.[0]) as LegRef],
    );
    expect(asked).toHaveLength(2);
    const replaced = asked[1]?.replaces?.progress as { known: number } | undefined;
    expect(replaced?.known).toBeGreaterThan(asked[0]?.at.sequence ?? 0);
  });

  it('an answer does not wait for it, though it had cached the run', async () => {
    await until('its death is noticed', async () => {
      const held = await shared.product.redis.zrange('hx:leases:default', '0', '-1');
      return !held.some((lease) => lease.startsWith(`${dead.id}.`));
    });
    const answeredAt = performance.now();
    const answer = await postJson(`${shared.product.url}/api/chat/${asking}/pending/c1`, {
      approved: true,
    });
    expect(answer.status).toBe(202);
    await shared.untilStatus(asking, 'completed');
    const ms = Math.round(performance.now() - answeredAt);
    process.stdout.write(
      `An answer after the worker that cached the run died: ${String(ms)} ms to its end.\n`,
    );
    expect(await waitedForDead(asking, diedAt)).toEqual([]);
  });

  it('an attempt that Temporal has retried by then is left alone', async () => {
    await shared.fleet.upTo(1);
    const sessionId = await shared.speak();
    const [[holder, work] = []] = await shared.fleet.workOf(sessionId);
    if (work === undefined) throw new Error('nothing is registered');
    // A worker that died long ago left this work; its task token names an earlier attempt.
    const former = { ...work, id: 'former', taskToken: formerToken(work.taskToken) };
    await shared.product.redis.hset(
      'hx:lease:{default:dead}:work',
      'former',
      JSON.stringify(former),
    );
    await shared.product.redis.hset('hx:lease:{default:dead}:about', 'ended', '1');
    await shared.product.redis.zadd('hx:leases:default', Date.now(), 'dead');
    await until('it was judged', async () => {
      return (await shared.product.redis.hlen('hx:lease:{default:dead}:work')) === 0;
    });
    expect(await shared.fleet.workOf(sessionId)).toEqual([[holder, work]]);
    expect(await shared.logOf(sessionId)).not.toContain(SECOND);
  });
});

const parse = (payload: { data?: Uint8Array | null } | undefined): unknown =>
  JSON.parse(Buffer.from(payload?.data ?? []).toString());

/** Changes the token's attempt number, a varint before the activity's id. */
function formerToken(base64: string): string {
  const token = Buffer.from(base64, 'base64');
  // Field 5, the attempt, in temporal.server.api.token.v1.Task: the tag 0x28 ("attempt") or 0x20.
  const at = token.indexOf(Buffer.from([0x28, 0x01]));
  if (at < 0) throw new Error(`no attempt in ${token.toString('hex')}`);
  token[at + 1] = 0x07;
  return token.toString('base64');
}

describe('a worker that lives', () => {
  // A test that fails leaves no message parked for the next one.
  afterEach(() => {
    shared.wire.cut();
  });

  it('and cannot write: another one takes its step over, and its late writes are refused', async () => {
    const { fleet, product, wire } = shared;
    const { url } = product;
    const [cutOff] = await fleet.upTo(1);
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const attempts = [{ say: FIRST, deltas: 600, everyMs: 100 }, {}];
    const sent = client.chat.sendMessage(toScript({ say: SECOND, deltas: 1, attempts }));
    await until('the first worker speaks', () => client.reply().includes('The first'));
    // The connection that renews the lease is another one.
    await wire.parkAt('evalsha', 'before');
    await fleet.start({ REDIS_URL: product.redisServer.url });
    // The server disconnects the page once its shown text was withdrawn, and the page returns.
    await until('the step is taken over', () => !isBusy(client), SOON_MS);
    await sent;
    const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId });
    await resumed;
    await untilRests(again, url);
    // Redis refuses the first worker's late writes.
    wire.cut();
    await cutOff?.stop();
    expect(again.reply()).toBe(SECOND);
    await expectStoredAsShown(again, url, sessionId);
  });

  it('and was judged while it stood still continues under another name', async () => {
    const { product, fleet, speak, logOf, untilTakenOver, untilStatus } = shared;
    await fleet.upTo(2);
    const sessionId = await speak();
    const worker = await fleet.workerOf(sessionId);
    process.kill(worker.pid, 'SIGSTOP');
    try {
      await untilTakenOver(sessionId);
    } finally {
      process.kill(worker.pid, 'SIGCONT');
    }
    await worker.says('another worker has judged this one; it continues as a new one');
    await until('it holds another lease', () =>
      product.redis.keys(`hx:lease:{default:${worker.id}.*.1}:held`).then((n) => n.length === 1),
    );
    await untilStatus(sessionId, 'completed');
    expect(await logOf(sessionId)).not.toContain('The first');
  });

  it('and that a tool holds up ends and names it, and the call is not executed again', async () => {
    // One of the two, as holder or as successor, is the worker that has another name now.
    const { fleet, post, logOf, callOf, untilTakenOver } = shared;
    // Workers may repeat this call endlessly, because it is idempotent.
    const write = { tool: 'write', id: 'c1', args: { pieces: 2, everyMs: 60_000 } };
    const { sessionId } = await post('lab', { calls: [write] }, { say: SECOND, deltas: 1 });
    await until('it has started', async () => (await callOf(sessionId)) === 'started');
    const worker = await fleet.workerOf(sessionId);
    process.kill(worker.pid, 'SIGUSR1');
    await untilTakenOver(sessionId);
    expect(await logOf(sessionId)).toContain('tool_timeout');
    await until('it ends', () => worker.log().includes('ended with SIGKILL'), SOON_MS);
    expect(worker.log()).toContain('stands still, probably in the tool "write" (c1)');
  });
});
