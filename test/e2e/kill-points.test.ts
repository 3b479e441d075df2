import type { Times } from '../../protocol/times.js';
import {
  callsOf,
  textOf,
  toScript,
  CLIENT_7,
  loadChat,
  openChat,
  untilRests,
  type ChatClient,
  type Snapshot,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { until } from '../support/until.js';
import { LAB_AGENTS, type LabAgent } from '../support/lab-agents.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

/**
 * The place where a worker dies: at its nth message to an engine after the post. Messages to Redis
 * count if they name the conversation; all messages to Temporal count, because they are compressed.
 */
interface KillPoint {
  wire: 'redis' | 'temporal';
  nth: number;
  /** `before`: the message does not arrive. `after`: the message arrives, its answer does not. */
  when: 'before' | 'after';
}

/** The users' acts: first without faults, then while a worker dies. */
interface Scenario {
  agent: LabAgent;
  prepare?: (page: Page) => Promise<unknown>;
  act: (page: Page) => Promise<unknown>;
}

/** A chat page, and the means to bypass it. */
interface Page {
  client: ChatClient;
  url: string;
  sessionId: string;
}

/** The state of a page that loads after the end. */
interface Outcome {
  client: ChatClient;
  snapshot: Snapshot;
  sessionId: string;
  product: Product;
}

/** `npm run kill -- --all` tries every kill point, `npm test` a few. */
const KILLS_EVERYWHERE = process.env['KILL_POINTS'] === 'all';

/** Returns the agents to kill at a point: both with `--all`, else one or the other in turn. */
function shapesOf(index: number): readonly LabAgent[] {
  return LAB_AGENTS.filter((_, nth) => KILLS_EVERYWHERE || nth === index % LAB_AGENTS.length);
}

/** Products whose workers reach Redis and Temporal through proxies that can hold messages. */
interface KillLanes {
  /** Plays the scenario, kills the worker at that point and starts another one. */
  killAt: (scenario: Scenario, point: KillPoint) => Promise<Outcome>;
  stop: () => Promise<void>;
}

/** What a killed worker had begun is given to its successor soon. */
const HELIX_TIMES = JSON.stringify({
  unseenMs: 1_000,
  patientMs: 3_000,
  workflowTaskMs: 2_000,
} satisfies Partial<Times>);

/** A point spends most of its time waiting for time-outs, so several run side by side. */
const LANES = 2;

async function startKillLanes(): Promise<KillLanes> {
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

/** @param isSupervised true if a supervisor reports the dead worker; else its lease has to lapse */
async function startKillLane(isSupervised: boolean): Promise<KillLanes> {
  const temporalAddress = sharedTemporal();
  const product = await startProduct({ worker: false, env: { HELIX_TIMES } });
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

  /** Approves the page's questions until its conversation rests. */
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
      // The kill may disconnect the page or ask it to reconnect, which it does below.
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

type ScenarioOfAnyShape = Omit<Scenario, 'agent'>;

/** One turn with all of a worker's kinds of work: text, tools, approved effects, a sub-agent. */
const TURN = toScript(
  {
    say: 'One. ',
    calls: [{ tool: 'remember', id: 'r1', args: { key: 'a', value: 1 } }, charge('c1')],
  },
  {
    say: 'Two. ',
    calls: [
      {
        tool: 'delegate',
        id: 'd1',
        args: {
          script: [
            { calls: [{ tool: 'echo', id: 'e1', args: { value: 2 } }] },
            { calls: [charge('c2', 6)] },
            { say: 'three' },
          ],
        },
      },
    ],
  },
);
const WHOLE_TURN: ScenarioOfAnyShape = { act: ({ client }) => client.chat.sendMessage(TURN) };

/** Posts without the page, and waits for the end of the response. */
async function post({ url, sessionId }: Page, path: string, body: object): Promise<void> {
  const response = await postJson(`${url}/api/${path.replace('$', sessionId)}`, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${text}`);
}

const echo = (value: number): object => ({
  say: `${String(value)}. `,
  calls: [{ tool: 'echo', id: `e${String(value)}`, args: { value } }],
});

/** A message waits in the queue; the process that ends the turn before it begins the next. */
const QUEUED: ScenarioOfAnyShape = {
  act: async (page) => {
    const first = page.client.chat.sendMessage(toScript({ say: 'One. ', hangMs: 400 }));
    await until('it is taken', () => page.client.requests[0]?.status === 200);
    const message = { id: 'second', role: 'user', parts: [{ type: 'text', ...toScript(echo(2)) }] };
    await post(page, 'chat/$?busy=queue', { message });
    await first;
  },
};

/** A turn resumes from a checkpoint in its middle. */
const RESUMED: ScenarioOfAnyShape = {
  prepare: ({ client }) => client.chat.sendMessage(toScript(echo(1), echo(2))),
  act: async (page) => {
    const response = await fetch(`${page.url}/api/chat/${page.sessionId}/checkpoints`);
    const { checkpoints } = (await response.json()) as { checkpoints: { id: string }[] };
    await post(page, 'agent/resume', {
      sessionId: page.sessionId,
      mode: 'from_checkpoint',
      checkpointId: checkpoints.at(-1)?.id,
    });
    await page.client.chat.resumeStream();
  },
};

/** A run sends more than 60 messages to Redis and, with polls, 100 to Temporal. */
const LAST = 50;
const EVERY: KillPoint[] = (['redis', 'temporal'] as const).flatMap((wire) =>
  (['before', 'after'] as const).flatMap((when) =>
    Array.from({ length: LAST }, (_, index) => ({ wire, nth: index + 1, when })),
  ),
);
/** First claim and text, a result, an effect, a sub-agent's begin and end, polls, completions. */
const CHOSEN: KillPoint[] = [
  { wire: 'redis', nth: 4, when: 'before' },
  { wire: 'redis', nth: 19, when: 'after' },
  { wire: 'redis', nth: 40, when: 'before' },
  { wire: 'temporal', nth: 5, when: 'after' },
  { wire: 'temporal', nth: 18, when: 'before' },
  { wire: 'temporal', nth: 41, when: 'after' },
];
const ofHandOvers = (chosen: number[]): KillPoint[] =>
  (KILLS_EVERYWHERE ? [2, 4, 6, 8, 10, 12] : chosen).map((nth, index) => ({
    wire: 'redis',
    nth,
    when: index % 2 === 0 ? 'before' : 'after',
  }));

interface Row {
  name: string;
  scenario: Scenario;
  point: KillPoint;
  replies: string[];
}

const toRows = (
  name: string,
  points: KillPoint[],
  scenario: ScenarioOfAnyShape,
  replies: string[],
): Row[] =>
  points.flatMap((point, index) =>
    shapesOf(index).map((agent) => ({
      name: `${name} of ${agent}`,
      scenario: { ...scenario, agent },
      replies,
      point,
    })),
  );

const TURNS = toRows('a turn', KILLS_EVERYWHERE ? EVERY : CHOSEN, WHOLE_TURN, ['One. Two. done']);
const HAND_OVERS = [
  ...toRows('a queued message', ofHandOvers([2, 6]), QUEUED, ['One. ', '2. done']),
  ...toRows('a turn that continues from a checkpoint', ofHandOvers([10, 6]), RESUMED, [
    '1. 2. done',
  ]),
];

let lanes: KillLanes;
const outcomes = new Map<Row, Promise<Outcome>>();
beforeAll(async () => {
  lanes = await startKillLanes();
  for (const row of [...TURNS, ...HAND_OVERS]) {
    const outcome = lanes.killAt(row.scenario, row.point);
    outcome.catch(() => undefined);
    outcomes.set(row, outcome);
  }
}, 120_000);
afterAll(() => lanes.stop());

async function outcomeOf(row: Row): Promise<Outcome> {
  const outcome = await outcomes.get(row);
  if (outcome === undefined) throw new Error('not tried');
  const { client, snapshot, sessionId, product } = outcome;
  expect(snapshot.status).toBe('ended');
  const replies = client.messages().filter(({ role }) => role === 'assistant');
  expect(replies.map(textOf)).toEqual(row.replies);
  await expectStoredAsShown(client, product.url, sessionId);
  return outcome;
}

/** Counts how often the calls of a session or its sub-agents took effect. */
async function countCharges({ product }: Outcome, prefix: string): Promise<number> {
  const all = await product.redis.hgetall('lab:charges');
  const own = Object.entries(all).filter(([key]) => key.startsWith(prefix));
  return own.reduce((sum, [, count]) => sum + Number(count), 0);
}

const TITLE = '$name, at its message $point.nth to $point.wire, $point.when it is taken';

describe('kill -9 of the worker leaves alone', () => {
  it.each(TURNS)(
    TITLE,
    async (row) => {
      const outcome = await outcomeOf(row);
      const { client, sessionId } = outcome;
      const calls = new Map(
        callsOf(client.chat.lastMessage).map((call) => [call.toolCallId, call]),
      );
      expect([...calls.keys()]).toEqual(['r1', 'c1', 'd1', 'c2']);
      for (const id of ['r1', 'c1', 'c2']) {
        const call = calls.get(id);
        if (call?.state === 'output-available') continue;
        expect(call?.state).toBe('output-error');
        expect(call?.errorText).toContain('is not known');
      }
      expect(calls.get('d1')).toMatchObject({ output: 'three' });
      for (const [id, prefix] of [
        ['c1', `${sessionId}:`],
        ['c2', `${sessionId}.`],
      ] as const) {
        const charged = await countCharges(outcome, prefix);
        // A call with output took effect once; a call of unknown outcome, at most once.
        if (calls.get(id)?.state === 'output-available') expect(charged).toBe(1);
        else expect(charged).toBeLessThanOrEqual(1);
      }
    },
    300_000,
  );

  it.each(HAND_OVERS)(TITLE, (row) => outcomeOf(row), 300_000);
});
