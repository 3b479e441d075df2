import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  formatChildSessionId,
  formatCheckpointId,
  formatModelWriter,
  rootOf,
} from '../../../protocol/ids.js';
import { isTerminal, type ChildRef } from '../../../protocol/run.js';
import type { ToolRow } from '../../../protocol/rows.js';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { createRedisStores } from '../../../stores/redis/index.js';
import type { NewCall, Writer } from '../../../stores/session-store.js';
import { newSessionId, userMessage } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { orCode, takePicture, withoutClock } from './same-as-redis/picture.js';
import type { Stores } from './same-as-redis/session-knowledge.js';

const memory = createMemoryStores();
const redis = createRedisStores({ url: sharedRedisUrl(), role: 'worker', prefix: 'tree' });

afterAll(() => redis.close());

const NOW = 1_700_000_000_000;
const AGENT = 'tester';

type Kind = 'server' | 'approval' | 'client' | 'subagent';

/** One thing that happens in a conversation; numbers choose among what exists by then. */
const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      of: fc.nat(9),
      kinds: fc.array(
        fc.constantFrom<Kind>('subagent', 'subagent', 'approval', 'client', 'server'),
        { maxLength: 3 },
      ),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'start' as const,
        'finish' as const,
        'decide' as const,
        'answer' as const,
      ),
      call: fc.nat(9),
      yes: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('settle child' as const), call: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), of: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'begin' as const), of: fc.nat(9) }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

interface Agent {
  sessionId: string;
  runId: string;
}
interface Call {
  id: string;
  kind: Kind;
  owner: Agent;
  child?: ChildRef;
}

/** What those know who drive a conversation. */
interface World {
  rootId: string;
  n: number;
  agents: Agent[];
  calls: Call[];
}

const newestFirst = <T>(list: readonly T[], back: number): T | undefined =>
  list[list.length - 1 - (back % Math.max(1, list.length))];

/** Mostly what is at work, so that turns get far. */
async function choose<T>(
  all: readonly T[],
  back: number,
  isAtWork: (each: T) => Promise<boolean>,
): Promise<T | undefined> {
  if (back === 9) return newestFirst(all, 3);
  const alive = await Promise.all(all.map(isAtWork));
  return newestFirst(
    all.filter((_, at) => alive[at]),
    back,
  );
}

const agentAt = ({ agents }: World, back: number): Promise<Agent | undefined> =>
  choose(agents, back, async ({ sessionId, runId }) => {
    const record = await memory.store.readRecord(sessionId);
    return record?.runId === runId && !isTerminal(record.status);
  });

/** Does the same to both stores, and expects the same of them. */
async function both(perform: (stores: Stores) => Promise<unknown>): Promise<unknown> {
  const result = withoutClock(await orCode(perform(memory)));
  expect(withoutClock(await orCode(perform(redis)))).toEqual(result);
  return result;
}

async function happen(world: World, what: Event): Promise<void> {
  world.n += 1;
  const now = NOW + world.n;
  switch (what.do) {
    case 'begin': {
      const message = userMessage(`u${String(world.n)}`);
      const base = {
        sessionId: world.rootId,
        agent: AGENT,
        owner: 'ann',
        policy: 'reject' as const,
      };
      const input = { ...base, nonce: `n${String(world.n)}`, messages: [message], now };
      const result = (await both(({ store }) => store.begin(input))) as {
        kind: string;
        run?: Agent;
      };
      if (result.run !== undefined) world.agents.push(result.run);
      return;
    }
    case 'stop':
    case 'end': {
      const agent = await agentAt(world, what.of);
      if (agent === undefined) return;
      const { sessionId, runId } = agent;
      if (what.do === 'stop') {
        await both(({ store }) => store.stop(sessionId, { mode: 'interrupt', runId }));
        return;
      }
      const end = { sessionId, runId, agentType: AGENT, step: 1, status: 'failed' as const, now };
      const error = { code: 'lost', message: 'Lost.', retryable: false };
      await both(({ store }) => store.end({ ...end, error }));
      return;
    }
    case 'step':
      return step(world, what, now);
    default:
      return settle(world, what, now);
  }
}

async function step(
  world: World,
  { of, kinds }: Extract<Event, { do: 'step' }>,
  now: number,
): Promise<void> {
  const agent = await agentAt(world, of);
  if (agent === undefined) return;
  const record = await memory.store.readRecord(agent.sessionId);
  const at = (record?.committedStep ?? 0) + 1;
  const writer: Writer = {
    ...agent,
    name: formatModelWriter(agent.sessionId, at),
    token: 1,
    agentType: AGENT,
    step: at,
  };
  await both(({ store }) => store.claim({ writer, known: 0, now }));
  const calls = kinds.map((kind, index) => toCall(world, agent, kind, index));
  const isOver = calls.length === 0;
  const parts = [{ type: 'text' as const, text: `step ${String(at)}` }];
  const row = { role: 'assistant' as const, messageId: 'm', runId: agent.runId, step: at, parts };
  const result = (await both(({ store }) =>
    store.commit({
      writer,
      known: 0,
      row,
      calls: calls.map(({ made }) => made),
      chunks: [],
      outcome: isOver
        ? { kind: 'ended', step: at, status: 'completed' }
        : { kind: 'calls', step: at, calls: [] },
      checkpointId: formatCheckpointId(agent.runId, at),
      ...(isOver && { final: { status: 'completed' as const } }),
      answersStop: false,
      now,
    }),
  )) as { kind: string };
  if (result.kind !== 'committed') return;
  for (const { call } of calls) {
    world.calls.push(call);
    if (call.child === undefined) continue;
    const { sessionId, runId, agent: name } = call.child;
    const child = { sessionId, runId, agent: name };
    const parent = { ...agent, toolCallId: call.id };
    await both(({ store }) => store.beginChild({ child, parent, now }));
    world.agents.push({ sessionId, runId });
  }
}

function toCall(world: World, owner: Agent, kind: Kind, at: number): { call: Call; made: NewCall } {
  const id = `c${String(world.n)}-${String(at)}`;
  const toolName = `${kind}-tool`;
  const made: NewCall = { toolCallId: id, toolName, kind, input: { list: [], object: {} } };
  const isAsked = kind === 'approval' || kind === 'client';
  if (isAsked) {
    const speaker = { agentId: rootOf(owner.sessionId), agentType: AGENT, step: 1, timestamp: 1 };
    const ask = { type: 'tool_start' as const, ...speaker, toolCallId: id, toolName };
    return {
      call: { id, kind, owner },
      // Not all that asks is kept back.
      made: { ...made, ...(world.n % 4 > 0 && { ask: { ...ask, arguments: { list: [] } } }) },
    };
  }
  if (kind === 'server') return { call: { id, kind, owner }, made };
  const sessionId = formatChildSessionId(world.rootId, at + 1, `x${String(world.n)}`);
  const child = { sessionId, runId: `${sessionId}:1-r`, agent: 'helper', maxSteps: 5 };
  return { call: { id, kind, owner, child }, made: { ...made, child: { ...child, message: id } } };
}

const KINDS: Record<Extract<Event, { call: number }>['do'], Kind[]> = {
  start: ['server', 'approval'],
  finish: ['server', 'approval'],
  decide: ['approval', 'client'],
  answer: ['client', 'approval'],
  'settle child': ['subagent'],
};

async function settle(
  world: World,
  what: Extract<Event, { call: number }>,
  now: number,
): Promise<void> {
  const kinds = KINDS[what.do];
  const call = await choose(
    world.calls.filter(({ kind }) => kinds.includes(kind)),
    what.call,
    async ({ id }) => {
      const state = (await memory.store.readCall(world.rootId, id))?.state;
      return state !== undefined && state !== 'settled';
    },
  );
  if (call === undefined) return;
  const { id: toolCallId, owner } = call;
  const writer: Writer = { ...owner, name: `t:${toolCallId}`, token: 1, agentType: AGENT, step: 1 };
  const row: ToolRow = { role: 'tool', toolCallId, toolName: 'a-tool', output: { list: [] } };
  const base = { agentType: AGENT, toolCallId, runId: owner.runId, chunks: [], now };
  // Answers are given to the conversation.
  const asked = { ...base, sessionId: world.rootId };
  switch (what.do) {
    case 'start':
      await both(({ store }) => store.startCall({ writer, toolCallId, now }));
      return;
    case 'finish': {
      const input = {
        source: 'tool' as const,
        writer,
        toolCallId,
        row,
        changes: [],
        chunks: [],
        now,
      };
      await both(({ store }) => store.settleCall(input));
      return;
    }
    case 'decide': {
      const decision = { approved: what.yes, at: now };
      const denial: ToolRow = {
        role: 'tool',
        toolCallId,
        toolName: 'a-tool',
        denied: true,
        decision,
      };
      const denied = what.yes ? {} : { row: denial };
      await both(({ store }) =>
        store.settleCall({ source: 'approval', ...asked, decision, ...denied }),
      );
      return;
    }
    case 'answer':
      await both(({ store }) => store.settleCall({ source: 'client', ...asked, row }));
      return;
    case 'settle child': {
      const { sessionId } = owner;
      await both(({ store }) => store.settleCall({ source: 'child', ...base, sessionId, row }));
    }
  }
}

async function comparePictures({ rootId, agents, calls }: World): Promise<void> {
  const ids = calls.slice(-6).map(({ id }) => id);
  const sessions = new Set([rootId, ...agents.slice(-5).map(({ sessionId }) => sessionId)]);
  for (const sessionId of sessions) {
    expect(await takePicture(memory, sessionId, ids)).toEqual(
      await takePicture(redis, sessionId, ids),
    );
  }
}

describe('a conversation with sub-agents in memory', () => {
  it('is what it would be in Redis, whatever was done to it', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 10, maxLength: 60, size: 'max' }),
        async (events) => {
          const world: World = { rootId: newSessionId(), n: 0, agents: [], calls: [] };
          await happen(world, { do: 'begin', of: 0 });
          for (const [at, what] of events.entries()) {
            await happen(world, what);
            if (at % 5 === 0) await comparePictures(world);
            seen.add((await memory.store.readRecord(world.rootId))?.status ?? '');
          }
          await comparePictures(world);
        },
      ),
      { numRuns: 60, interruptAfterTimeLimit: 60_000 },
    );
    // Otherwise it has compared little.
    expect([...seen]).toEqual(expect.arrayContaining(['waiting_children', 'waiting_approval']));
  }, 120_000);
});
