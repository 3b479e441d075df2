import { textOf, toScript } from '../support/chat-client.js';
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
import { until } from '../support/until.js';

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
const QUEUED: Omit<Scenario, 'agent'> = {
  act: async (page) => {
    const first = page.client.chat.sendMessage(toScript({ say: 'One. ', hangMs: 400 }));
    await until('it is taken', () => page.client.requests[0]?.status === 200);
    const message = { id: 'second', role: 'user', parts: [{ type: 'text', ...toScript(echo(2)) }] };
    await post(page, 'chat/$?busy=queue', { message });
    await first;
  },
};

/** A turn is gone on with from a checkpoint in its middle. */
const RESUMED: Omit<Scenario, 'agent'> = {
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

interface Row {
  name: string;
  scenario: Scenario;
  point: KillPoint;
  replies: string[];
}

const NTHS = KILLS_EVERYWHERE ? [2, 4, 6, 8, 10, 12] : [2, 6, 10];
const toRows = (name: string, scenario: Omit<Scenario, 'agent'>, replies: string[]): Row[] =>
  NTHS.flatMap((nth, index) =>
    shapesOf(index).map((agent) => ({
      name: `${name} of ${agent}`,
      scenario: { ...scenario, agent },
      replies,
      point: { wire: 'redis', nth, when: index % 2 === 0 ? 'before' : 'after' },
    })),
  );

const ROWS = [
  ...toRows('a queued message', QUEUED, ['One. ', '2. done']),
  ...toRows('a turn that continues from a checkpoint', RESUMED, ['1. 2. done']),
];

let lanes: KillLanes;
const outcomes = new Map<Row, Promise<Outcome>>();
beforeAll(async () => {
  lanes = await startKillLanes();
  for (const row of ROWS) {
    const outcome = lanes.killAt(row.scenario, row.point);
    outcome.catch(() => undefined);
    outcomes.set(row, outcome);
  }
}, 120_000);
afterAll(() => lanes.stop());

describe('kill -9 of the worker leaves alone', () => {
  it.each(ROWS)(
    '$name, at its message $point.nth to $point.wire, $point.when it is taken',
    async (row) => {
      const outcome = await outcomes.get(row);
      if (outcome === undefined) throw new Error('not tried');
      const { client, snapshot, sessionId, product } = outcome;
      expect(snapshot.status).toBe('ended');
      const replies = client.messages().filter(({ role }) => role === 'assistant');
      expect(replies.map(textOf)).toEqual(row.replies);
      await expectStoredAsShown(client, product.url, sessionId);
    },
    300_000,
  );
});
