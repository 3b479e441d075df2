import { LAB_AGENTS } from '../support/lab-agents.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { postMessage, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { startFleet, type WorkerFleet } from '../support/worker-fleet.js';
import { storedCall, storedRecord } from '../support/stored-record.js';

/**
 * Much less than the 90 s after which heartbeats notice, and not much more than the 5 s without leases; a lease
 * takes 1.8 s on a machine that has nothing else to do.
 */
const SOON_MS = 20_000;
const FIRST = 'The first attempt says this. '.repeat(20);
const SECOND = 'The second attempt says that.';

let product: Product;
let fleet: WorkerFleet;
beforeAll(async () => {
  product = await startProduct();
  fleet = await startFleet(product);
});
afterEach(() => fleet.stop());
afterAll(() => product.stop());

/** Speaks for twenty seconds, unless it is asked again. */
async function speak(agent = 'lab'): Promise<{ sessionId: string; reader: SseReader }> {
  const attempts = [{ say: FIRST, deltas: 400, everyMs: 50 }, {}];
  const { sessionId, reader } = await post(agent, { say: SECOND, deltas: 1, attempts });
  await until('the first attempt speaks', () => reader.text().includes('The first'));
  return { sessionId, reader };
}

async function post(agent: string, ...script: object[]) {
  const sessionId = newSessionId();
  const message = { id: 'u1', text: JSON.stringify({ script }) };
  return { sessionId, reader: await postMessage(product.url, sessionId, message, {}, agent) };
}

const logOf = async (sessionId: string): Promise<string> =>
  JSON.stringify(await product.redis.xrange(`hx:{${sessionId}}:stream`, '-', '+'));

async function untilTakenOver(sessionId: string, withinMs = SOON_MS): Promise<void> {
  const isTaken = async (): Promise<boolean> => (await logOf(sessionId)).includes(SECOND);
  await until('the second attempt speaks', isTaken, withinMs);
  expect(await logOf(sessionId)).not.toContain('The first');
}

async function untilStarted(sessionId: string): Promise<void> {
  const stateOf = async () => (await storedCall(product.redis, sessionId, 'c1'))?.state;
  await until('the call has started', async () => (await stateOf()) === 'started');
  const [[, work] = []] = await fleet.workOf(sessionId);
  expect(work).toMatchObject({ isPatient: true });
}

async function untilEnded(sessionId: string): Promise<void> {
  const statusOf = async () => (await storedRecord(product.redis, sessionId))?.run.status;
  await until('the run ends', async () => (await statusOf()) === 'completed', SOON_MS);
}

describe('a worker that is killed', () => {
  it.each(LAB_AGENTS)('the step of %s is taken over by another worker', async (agent) => {
    await Promise.all([fleet.start(), fleet.start()]);
    const { sessionId } = await speak(agent);
    const worker = await fleet.workerOf(sessionId);
    await worker.kill9();
    await untilTakenOver(sessionId);
    await untilEnded(sessionId);
    await until('nothing is left', async () => (await fleet.workOf(sessionId)).length === 0);
  });

  it('a supervisor that saw it end lets its successor begin at once, also with started calls', async () => {
    const alone = await fleet.start();
    const { sessionId } = await post(
      'lab',
      { calls: [{ tool: 'sleep', id: 'c1', args: { ms: 60_000 } }] },
      { say: SECOND, deltas: 1 },
    );
    await untilStarted(sessionId);
    await alone.kill9();
    const killedAt = Date.now();
    await fleet.start({ ENDED_LEASE_ID: alone.id });
    await untilTakenOver(sessionId);
    // Otherwise a started call waits for ten seconds.
    expect(Date.now() - killedAt).toBeLessThan(10_000);
    expect(await logOf(sessionId)).toContain('tool_outcome_unknown');
  });

  it('an attempt that Temporal has retried by then is left alone', async () => {
    await fleet.start();
    const { sessionId } = await speak();
    const [[holder, work] = []] = await fleet.workOf(sessionId);
    if (work === undefined) throw new Error('nothing is registered');
    // What a worker left that died long ago: its task token names an attempt that is over.
    const former = { ...work, id: 'former', taskToken: formerToken(work.taskToken) };
    await product.redis.hset('hx:lease:{default:dead}:work', 'former', JSON.stringify(former));
    await product.redis.hset('hx:lease:{default:dead}:about', 'ended', '1');
    await product.redis.zadd('hx:leases:default', Date.now(), 'dead');
    await until('it was judged', async () => {
      return (await product.redis.hlen('hx:lease:{default:dead}:work')) === 0;
    });
    expect(await fleet.workOf(sessionId)).toEqual([[holder, work]]);
    expect(await logOf(sessionId)).not.toContain(SECOND);
  });
});

/** The attempt's number is a varint before the activity's id: another number, another attempt. */
function formerToken(base64: string): string {
  const token = Buffer.from(base64, 'base64');
  // Field 5, the attempt, in temporal.server.api.token.v1.Task: the tag 0x28 ("attempt") or 0x20.
  const at = token.indexOf(Buffer.from([0x28, 0x01]));
  if (at < 0) throw new Error(`no attempt in ${token.toString('hex')}`);
  token[at + 1] = 0x07;
  return token.toString('base64');
}

describe('workers that live', () => {
  it('a worker that was judged while it stood still continues under another name', async () => {
    const workers = await Promise.all([fleet.start(), fleet.start()]);
    const { sessionId } = await speak();
    const worker = await fleet.workerOf(sessionId);
    process.kill(worker.pid, 'SIGSTOP');
    // Its open polls may get the workflow's next task, and the next attempt.
    await untilTakenOver(sessionId, 3 * SOON_MS);
    process.kill(worker.pid, 'SIGCONT');
    await worker.says('another worker has judged this one; it continues as a new one');
    await until('it holds another lease', () =>
      product.redis.keys(`hx:lease:{default:${worker.id}.*.1}:held`).then((n) => n.length === 1),
    );
    await untilEnded(sessionId);
    expect(await logOf(sessionId)).not.toContain('The first');
    // It works on: with the other one gone it takes what comes.
    for (const other of workers) if (other.id !== worker.id) await other.kill9();
    const next = await post('lab', { say: SECOND, deltas: 1 });
    await untilEnded(next.sessionId);
  }, 120_000);

  it('a worker that a tool holds up ends and names it, and the call is not executed again', async () => {
    const worker = await fleet.start({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
        "process.on('SIGUSR1', () => { const end = Date.now() + 60000; while (Date.now() < end); });",
      )}`,
    });
    // Idempotent, so that it would be executed again and again.
    const write = { tool: 'write', id: 'c1', args: { pieces: 2, everyMs: 60_000 } };
    const { sessionId } = await post('lab', { calls: [write] }, { say: SECOND, deltas: 1 });
    const stateOf = async () => (await storedCall(product.redis, sessionId, 'c1'))?.state;
    await until('the call has started', async () => (await stateOf()) === 'started');
    await fleet.start();
    process.kill(worker.pid, 'SIGUSR1');
    await untilTakenOver(sessionId);
    expect(await logOf(sessionId)).toContain('tool_timeout');
    await until('it ends', () => worker.log().includes('ended with SIGKILL'), 30_000);
    expect(worker.log()).toContain('stands still, probably in the tool "write" (c1)');
  }, 60_000);
});
