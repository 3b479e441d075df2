import { callsOf, toScript } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import {
  KILLS_EVERYWHERE,
  shapesOf,
  startKillLanes,
  type KillLanes,
  type KillPoint,
  type Outcome,
  type Scenario,
} from '../support/kill-lanes.js';
import { charge } from '../support/lab-calls.js';

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

/** A run writes to Redis more than sixty times, and to Temporal a hundred times with the polls. */
const LAST = 50;
/** The first claim and words, a tool's result, an effect, the sub-agent's begin and end; polls and completions. */
const CHOSEN: KillPoint[] = [
  { wire: 'redis', nth: 4, when: 'before' },
  { wire: 'redis', nth: 19, when: 'after' },
  { wire: 'redis', nth: 40, when: 'before' },
  { wire: 'temporal', nth: 5, when: 'after' },
  { wire: 'temporal', nth: 18, when: 'before' },
  { wire: 'temporal', nth: 41, when: 'after' },
];

function everyPoint(): KillPoint[] {
  return (['redis', 'temporal'] as const).flatMap((wire) =>
    (['before', 'after'] as const).flatMap((when) =>
      Array.from({ length: LAST }, (_, index) => ({ wire, nth: index + 1, when })),
    ),
  );
}

const ROWS = (KILLS_EVERYWHERE ? everyPoint() : CHOSEN).flatMap((point, index) =>
  shapesOf(index).map((agent) => ({ agent, point })),
);
type Row = (typeof ROWS)[number];

let lanes: KillLanes;
const outcomes = new Map<Row, Promise<Outcome>>();
beforeAll(async () => {
  lanes = await startKillLanes();
  for (const row of ROWS) {
    const act: Scenario['act'] = ({ client }) => client.chat.sendMessage(TURN);
    const outcome = lanes.killAt({ agent: row.agent, act }, row.point);
    outcome.catch(() => undefined);
    outcomes.set(row, outcome);
  }
}, 120_000);
afterAll(() => lanes.stop());

/** How often the calls of a session, or of its sub-agents, took effect. */
async function countCharges({ product }: Outcome, prefix: string): Promise<number> {
  const all = await product.redis.hgetall('lab:charges');
  const own = Object.entries(all).filter(([key]) => key.startsWith(prefix));
  return own.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('kill -9 of the worker', () => {
  it.each(ROWS)(
    'of $agent at its message $point.nth to $point.wire, $point.when it is taken, changes nothing',
    async (row) => {
      const outcome = await outcomes.get(row);
      if (outcome === undefined) throw new Error('not tried');
      const { client, snapshot, sessionId, product } = outcome;
      expect(snapshot.status).toBe('ended');
      expect(client.reply()).toBe('One. Two. done');
      await expectStoredAsShown(client, product.url, sessionId);
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
});
