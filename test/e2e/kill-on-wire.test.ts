import { openAsked, type AskedChat } from '../support/asked-chat.js';
import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  toScript,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { createHistoryReader } from '../support/history-of.js';
import { LAB_AGENTS, type LabAgent } from '../support/lab-agents.js';
import { charge, chargesOf } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { storedRecord } from '../support/stored-record.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const product = useProduct();
let proxy: TcpProxy;
const historyOf = createHistoryReader(product);
// Workers reach Redis over a proxy that a test can cut.
const startWorker = (): Promise<void> =>
  product.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(proxy.port)}` });

beforeAll(async () => {
  await product.kill9Worker();
  proxy = await startTcpProxy(product.redisServer.port);
  await startWorker();
});
afterAll(() => proxy.close());

const countCharges = async (sessionId: string): Promise<number[]> =>
  Object.values(await chargesOf(product.redis, `${sessionId}:`));

interface Page {
  client: ChatClient;
  sessionId: string;
  reply: Promise<void>;
}

function open(agent: LabAgent, ...script: object[]): Page {
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url: product.url, sessionId, agent });
  return { client, sessionId, reply: client.chat.sendMessage(toScript(...script)) };
}

/** Expects the call to have one effect, and the page to show this. */
async function expectOnce({ client, sessionId }: Omit<Page, 'reply'>, call: object): Promise<void> {
  const { url } = product;
  await untilRests(client, url);
  expect(callsOf(client.chat.lastMessage)).toMatchObject([call]);
  expect(client.reply()).toBe('done');
  expect(await countCharges(sessionId)).toEqual([1]);
  await expectStoredAsShown(client, url, sessionId);
}

const remember = (key: string): object => ({
  tool: 'remember',
  id: key,
  args: { key, value: `${key} remembered` },
});

describe('calls whose worker dies', () => {
  const made = (): Promise<void> => proxy.parkAt('lab:charges', 'after');
  let charged: AskedChat;
  /** Calls that can verify their effect: one had it as the worker died, the other had not. */
  let transfers: Page[];
  let besides: Page;

  // One kill hits all of them.
  beforeAll(async () => {
    charged = await openAsked(product.url, { calls: [charge('c1')] });
    const transfer = { calls: [{ tool: 'transfer', id: 't1', args: { amount: 5 } }] };
    const untilMade = async ({ sessionId }: Pick<Page, 'sessionId'>): Promise<void> => {
      await until('the effect', async () => (await countCharges(sessionId))[0] === 1);
    };
    // Calls take effect over connections of their own.
    let sprung = made();
    const after = open('lab-leg', transfer);
    await sprung;
    await untilMade(after);
    sprung = made();
    await charged.client.chat.addToolApprovalResponse({ id: charged.id, approved: true });
    await sprung;
    await untilMade(charged);
    sprung = proxy.parkAt('lab:charges', 'before');
    const before = open('lab', transfer);
    await sprung;
    expect(await countCharges(before.sessionId)).toEqual([]);
    transfers = [before, after];
    // Redis stores the second call's first patch but never its result.
    sprung = proxy.holdAt('"toolName":"remember","result":{"remembered":"lost"}', 'before');
    besides = open(
      'lab-leg',
      { calls: [remember('first')] },
      { calls: [remember('kept'), remember('too')] },
      { calls: [remember('lost'), { tool: 'echo', id: 'e', args: { value: 1 } }] },
    );
    await sprung;
    await product.kill9Worker();
    // Undelivered messages die with the worker.
    proxy.cut();
    await startWorker();
  });

  it('as they take effect have it once, and their result if they can verify that', async () => {
    await expectOnce(charged, {
      state: 'output-error',
      errorText: expect.stringContaining('not known'),
    });
    for (const each of transfers) {
      await each.reply;
      await expectOnce(each, { state: 'output-available', output: { transferred: 5 } });
    }
  });

  it('side by side, leave the changes of those that were settled', async () => {
    const { url } = product;
    const { client, sessionId, reply } = besides;
    await reply;
    await untilRests(client, url);
    expect(client.reply()).toBe('done');
    expect(
      callsOf(client.chat.lastMessage).map(({ toolCallId, state }) => [toolCallId, state]),
    ).toEqual([
      ['first', 'output-available'],
      ['kept', 'output-available'],
      ['too', 'output-available'],
      ['lost', 'output-error'],
      ['e', expect.stringMatching(/^output/)],
    ]);
    const { state } = await loadSnapshot(url, sessionId);
    expect(state).toEqual({
      memory: {
        first: 'first remembered',
        kept: 'kept remembered',
        too: 'too remembered',
      },
    });
    await expectStoredAsShown(client, url, sessionId);
  });
});

/** Silence of the model, ms: far longer than a stop takes. */
const SILENT_MS = 120_000;

it('a stop whose message is lost on its way reaches a silent model with the next renewal', async () => {
  // After a first step the channel is subscribed, so the worker does not look for stops.
  const calls = [{ tool: 'echo', id: 'e1', args: { value: 1 } }];
  const script = [
    { say: 'Now I think.', calls },
    { say: 'never spoken', hangMs: SILENT_MS },
  ];
  const text = JSON.stringify({ script });
  const silent = LAB_AGENTS.map((agent) => ({ agent, sessionId: newSessionId() }));
  const readers = await Promise.all(
    silent.map(({ agent, sessionId }) =>
      postMessage(product.url, sessionId, { id: 'u1', text }, {}, agent),
    ),
  );
  for (const { sessionId } of silent) {
    await until('the second step has begun', async () => {
      return (await storedRecord(product.redis, sessionId))?.run.claimed === 2;
    });
  }
  const lostBefore = proxy.lost();
  proxy.loseMessages(/[^\r]*:stop/);
  await Promise.all(
    silent.map(async ({ agent, sessionId }) => {
      const stoppedAt = performance.now();
      const stop = await fetch(`${product.url}/api/chat/${sessionId}/stop`, { method: 'POST' });
      expect(stop.status).toBe(202);
      // The attempt itself must end: nothing else would tell the model to stop.
      await until('its activity has ended', async () => {
        const events = await historyOf(sessionId);
        const scheduled = events.filter((event) => event.activityTaskScheduledEventAttributes);
        const ended = events.filter((event) => event.activityTaskCompletedEventAttributes);
        return scheduled.length > 0 && scheduled.length === ended.length;
      });
      const ms = Math.round(performance.now() - stoppedAt);
      process.stdout.write(
        `A stop of ${agent} whose message is lost: ${String(ms)} ms to its end.\n`,
      );
      await until('the run is stopped', async () => {
        return (await storedRecord(product.redis, sessionId))?.run.status === 'interrupted';
      });
    }),
  );
  expect(proxy.lost()).toBeGreaterThan(lostBefore + 1);
  await Promise.all(readers.map((reader) => reader.done));
});
