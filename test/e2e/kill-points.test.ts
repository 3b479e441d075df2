import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callsOf, toScript } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import {
  startKillLanes,
  type KillLanes,
  type KillPoint,
  type Outcome,
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
const LAST = { redis: 50, temporal: 50 };
const STRIDE = { redis: 5, temporal: 8 };

/** Every place can be one to die at; each seed tries some of them, and all seeds together all. */
function toPoints(seed: number): KillPoint[] {
  return (['redis', 'temporal'] as const).flatMap((wire) => {
    const first = 1 + (seed % STRIDE[wire]);
    const count = Math.floor((LAST[wire] - first) / STRIDE[wire]) + 1;
    return Array.from({ length: count }, (_, index): KillPoint => {
      const when = (index + seed) % 2 === 0 ? 'before' : 'after';
      return { wire, nth: first + index * STRIDE[wire], when };
    });
  });
}

const POINTS = toPoints(Number(process.env['KILL_SEED'] ?? 0));

let lanes: KillLanes;
const outcomes = new Map<KillPoint, Promise<Outcome>>();
beforeAll(async () => {
  lanes = await startKillLanes();
  for (const point of POINTS) {
    const outcome = lanes.killAt({ act: ({ client }) => client.chat.sendMessage(TURN) }, point);
    outcome.catch(() => undefined);
    outcomes.set(point, outcome);
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
  it.each(POINTS)(
    'at its message $nth to $wire, $when it is taken, changes nothing',
    async (point) => {
      const outcome = await outcomes.get(point);
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
