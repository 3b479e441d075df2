import type { Times } from '../../protocol/limits.js';
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
import { charge, chargesOf } from '../support/lab-calls.js';
import { until } from '../support/until.js';
import { LAB_AGENTS, type LabAgent } from '../support/lab-agents.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, sharedTemporal, useProduct } from '../support/product.js';
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
  name: string;
  replies: string[];
  prepare?: (page: Page) => Promise<unknown>;
  act: (page: Page) => Promise<unknown>;
  /** Checks what only this scenario has. */
  check?: (outcome: Outcome) => Promise<void>;
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
}

interface Row {
  scenario: Scenario;
  point: KillPoint;
  agent: LabAgent;
  /** True if a supervisor reports the dead worker; else its lease has to lapse. */
  isSupervised: boolean;
}

const KILLS_EVERYWHERE = process.env['KILL_POINTS'] === 'all';

/** What a killed worker had begun is given to its successor soon. */
const HELIX_TIMES = JSON.stringify({
  unseenMs: 1_000,
  patientMs: 3_000,
  workflowTaskMs: 2_000,
} satisfies Partial<Times>);

const product = useProduct({ worker: false, env: { HELIX_TIMES } });
/** The worker reaches its engines through proxies that can hold messages. */
let wires: Record<KillPoint['wire'], TcpProxy>;
beforeAll(async () => {
  wires = {
    redis: await startTcpProxy(product.redisServer.port),
    temporal: await startTcpProxy(Number(sharedTemporal().split(':')[1])),
  };
  await startWorker(true);
});
afterAll(async () => {
  for (const proxy of Object.values(wires)) await proxy.close();
});

function startWorker(isSupervised: boolean): Promise<void> {
  return product.startWorker({
    ...(!isSupervised && { ENDED_LEASE_ID: 'none' }),
    REDIS_URL: `redis://127.0.0.1:${String(wires.redis.port)}`,
    TEMPORAL_ADDRESS: `127.0.0.1:${String(wires.temporal.port)}`,
  });
}

const isOver = ({ snapshot: { status, queue } }: Outcome): boolean =>
  (status === 'ended' || status === 'failed') && (queue ?? []).length === 0;

async function load(sessionId: string, agent: LabAgent): Promise<Outcome> {
  const { url } = product;
  const { client, snapshot, resumed } = await loadChat(CLIENT_7, { url, sessionId, agent });
  await resumed;
  return { client, snapshot, sessionId };
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

/** Plays the scenario, kills the worker at the row's point, starts another one, and checks the end. */
async function killAt({ scenario, point, agent, isSupervised }: Row): Promise<void> {
  const { url } = product;
  const { wire, nth, when } = point;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId, agent });
  const page = { client, url, sessionId };
  await scenario.prepare?.(page);
  const sprung = wires[wire].holdAt(wire === 'redis' ? sessionId : '', when, nth);
  // The kill may disconnect the page or ask it to reconnect, which it does below.
  const calm = scenario.act(page).then(() => bringToRest(client));
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
  await startWorker(isSupervised);
  const outcome = await until('the run ends', async () => {
    const found = await load(sessionId, agent);
    await bringToRest(found.client);
    return isOver(found) && load(sessionId, agent);
  });
  await calm.catch(() => undefined);
  expect(outcome.snapshot.status).toBe('ended');
  const shown = outcome.client.messages().filter(({ role }) => role === 'assistant');
  expect(shown.map(textOf)).toEqual(scenario.replies);
  await expectStoredAsShown(outcome.client, url, sessionId);
  await scenario.check?.(outcome);
}

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
const WHOLE_TURN: Scenario = {
  name: 'a turn',
  replies: ['One. Two. done'],
  act: ({ client }) => client.chat.sendMessage(TURN),
  check: async ({ client, sessionId }) => {
    const calls = new Map(callsOf(client.chat.lastMessage).map((call) => [call.toolCallId, call]));
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
      const { [id]: charged = 0 } = await chargesOf(product.redis, prefix);
      // A call with output took effect once; a call of unknown outcome, at most once.
      if (calls.get(id)?.state === 'output-available') expect(charged).toBe(1);
      else expect(charged).toBeLessThanOrEqual(1);
    }
  },
};

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
const QUEUED: Scenario = {
  name: 'a queued message',
  replies: ['One. ', '2. done'],
  act: async (page) => {
    const first = page.client.chat.sendMessage(toScript({ say: 'One. ', hangMs: 400 }));
    await until('it is taken', () => page.client.requests[0]?.status === 200);
    const message = { id: 'second', role: 'user', parts: [{ type: 'text', ...toScript(echo(2)) }] };
    await post(page, 'chat/$?busy=queue', { message });
    await first;
  },
};

/** A turn resumes from a checkpoint in its middle. */
const RESUMED: Scenario = {
  name: 'a turn that continues from a checkpoint',
  replies: ['1. 2. done'],
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
const pointsOf = (wire: KillPoint['wire'], when: KillPoint['when']): KillPoint[] =>
  Array.from({ length: LAST }, (_, index) => ({ wire, nth: index + 1, when }));
const EVERYWHERE = (['before', 'after'] as const).flatMap((when) => [
  ...[...pointsOf('redis', when), ...pointsOf('temporal', when)].map((point) => ({
    scenario: WHOLE_TURN,
    point,
  })),
  ...[QUEUED, RESUMED].flatMap((scenario) =>
    [2, 4, 6, 8, 10, 12].map((nth) => ({ scenario, point: { wire: 'redis' as const, nth, when } })),
  ),
]);
/** A call of a sub-agent, a poll, a completion, and a hand-over of each kind. */
const CHOSEN: Pick<Row, 'scenario' | 'point'>[] = [
  { scenario: WHOLE_TURN, point: { wire: 'redis', nth: 40, when: 'before' } },
  { scenario: WHOLE_TURN, point: { wire: 'temporal', nth: 18, when: 'before' } },
  { scenario: WHOLE_TURN, point: { wire: 'temporal', nth: 41, when: 'after' } },
  { scenario: RESUMED, point: { wire: 'redis', nth: 10, when: 'before' } },
  { scenario: QUEUED, point: { wire: 'redis', nth: 6, when: 'after' } },
];

/** `npm run kill -- --all` tries every kill point with both agents, `npm test` a few in turn. */
const ROWS: Row[] = KILLS_EVERYWHERE
  ? EVERYWHERE.flatMap((row, index) =>
      LAB_AGENTS.map((agent) => ({ ...row, agent, isSupervised: index % 2 === 0 })),
    )
  : CHOSEN.map((row, index) => ({
      ...row,
      agent: LAB_AGENTS[index % 2] ?? 'lab',
      isSupervised: index % 3 !== 0,
    }));

it.each(ROWS)(
  'kill -9 of the worker leaves $scenario.name of $agent alone, at its message $point.nth to $point.wire, $point.when it is taken',
  killAt,
);
