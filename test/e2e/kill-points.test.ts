import { callsOf, textOf, toScript } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import {
  KILLS_EVERYWHERE,
  shapesOf,
  startKillLanes,
  type KillLanes,
  type KillPoint,
  type Outcome,
  type Page,
  type Scenario,
} from '../support/kill-lanes.js';
import { charge } from '../support/lab-calls.js';
import { until } from '../support/until.js';

type ScenarioOfAnyShape = Omit<Scenario, 'agent'>;

/** Everything that a worker does for a turn: text, tools, effects that are approved, a sub-agent. */
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

/** Posts past the page, and waits for the end of the response. */
async function post({ url, sessionId }: Page, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/api/${path.replace('$', sessionId)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${text}`);
}

const echo = (value: number): object => ({
  say: `${String(value)}. `,
  calls: [{ tool: 'echo', id: `e${String(value)}`, args: { value } }],
});

/** A message waits in the queue while the turn before it ends: who ends one begins the next. */
const QUEUED: ScenarioOfAnyShape = {
  act: async (page) => {
    const first = page.client.chat.sendMessage(toScript({ say: 'One. ', hangMs: 400 }));
    await until('it is taken', () => page.client.requests[0]?.status === 200);
    const message = { id: 'second', role: 'user', parts: [{ type: 'text', ...toScript(echo(2)) }] };
    await post(page, 'chat/$?busy=queue', { message });
    await first;
  },
};

/** A turn is gone on with from a checkpoint in its middle. */
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

/** A run writes to Redis more than sixty times, and to Temporal a hundred times with the polls. */
const LAST = 50;
const EVERY: KillPoint[] = (['redis', 'temporal'] as const).flatMap((wire) =>
  (['before', 'after'] as const).flatMap((when) =>
    Array.from({ length: LAST }, (_, index) => ({ wire, nth: index + 1, when })),
  ),
);
/** The first claim and words, a tool's result, an effect, the sub-agent's begin and end; polls and completions. */
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

/** How often the calls of a session, or of its sub-agents, took effect. */
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
        // Known to have happened once, or known to be unknown.
        if (calls.get(id)?.state === 'output-available') expect(charged).toBe(1);
        else expect(charged).toBeLessThanOrEqual(1);
      }
    },
    300_000,
  );

  it.each(HAND_OVERS)(TITLE, (row) => outcomeOf(row), 300_000);
});
