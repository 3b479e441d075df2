import {
  formatCheckpointId,
  formatChildSessionId,
  formatModelWriter,
  rootOf,
} from '../../../../protocol/ids.js';
import type { ToolRow } from '../../../../protocol/rows.js';
import type { NewCall } from '../../../../stores/contract/call-record.js';
import type { Writer } from '../../../../stores/contract/log.js';
import { userMessage } from '../../../support/session-driver.js';
import type { Kind, TreeEvent } from './tree-event.js';
import { agentAt, choose, type Agent, type Call, type Pair, type World } from './world.js';

const NOW = 1_700_000_000_000;
const AGENT = 'tester';

export async function happen(world: World, what: TreeEvent, pair: Pair): Promise<void> {
  const { both } = pair;
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
      const result = (await both(({ store }) => store.runs.begin(input))) as {
        kind: string;
        run?: Agent;
      };
      if (result.run !== undefined) world.agents.push(result.run);
      return;
    }
    case 'stop':
    case 'end': {
      const agent = await agentAt(world, what.of, pair);
      if (agent === undefined) return;
      const { sessionId, runId } = agent;
      if (what.do === 'stop') {
        await both(({ store }) => store.runs.stop(sessionId, { mode: 'interrupt', runId }));
        return;
      }
      const end = { sessionId, runId, agentType: AGENT, step: 1, status: 'failed' as const, now };
      const error = { code: 'lost', message: 'Lost.', retryable: false };
      await both(({ store }) => store.runs.end({ ...end, error }));
      return;
    }
    case 'step':
      return step(world, what, now, pair);
    default:
      return settle(world, what, now, pair);
  }
}

async function step(
  world: World,
  { of, kinds }: Extract<TreeEvent, { do: 'step' }>,
  now: number,
  pair: Pair,
): Promise<void> {
  const { memory, both } = pair;
  const agent = await agentAt(world, of, pair);
  if (agent === undefined) return;
  const record = await memory.store.sessions.read(agent.sessionId);
  const at = (record?.committedStep ?? 0) + 1;
  const writer: Writer = {
    ...agent,
    name: formatModelWriter(agent.sessionId, at),
    token: 1,
    agentType: AGENT,
    step: at,
  };
  await both(({ store }) => store.steps.claim({ writer, known: 0, now }));
  const calls = kinds.map((kind, index) => toCall(world, agent, kind, index));
  const isOver = calls.length === 0;
  const parts = [{ type: 'text' as const, text: `step ${String(at)}` }];
  const row = { role: 'assistant' as const, messageId: 'm', runId: agent.runId, step: at, parts };
  const result = (await both(({ store }) =>
    store.steps.commit({
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
    await both(({ store }) => store.runs.beginChild({ child, parent, now }));
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

const KINDS: Record<Extract<TreeEvent, { call: number }>['do'], Kind[]> = {
  start: ['server', 'approval'],
  finish: ['server', 'approval'],
  decide: ['approval', 'client'],
  answer: ['client', 'approval'],
  'settle child': ['subagent'],
};

async function settle(
  world: World,
  what: Extract<TreeEvent, { call: number }>,
  now: number,
  { memory, both }: Pair,
): Promise<void> {
  const kinds = KINDS[what.do];
  const call = await choose(
    world.calls.filter(({ kind }) => kinds.includes(kind)),
    what.call,
    async ({ id }) => {
      const state = (await memory.store.calls.read(world.rootId, id))?.state;
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
      await both(({ store }) => store.calls.start({ writer, toolCallId, now }));
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
      await both(({ store }) => store.calls.settle(input));
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
        store.calls.settle({ source: 'approval', ...asked, decision, ...denied }),
      );
      return;
    }
    case 'answer':
      await both(({ store }) => store.calls.settle({ source: 'client', ...asked, row }));
      return;
    case 'settle child': {
      const { sessionId } = owner;
      await both(({ store }) => store.calls.settle({ source: 'child', ...base, sessionId, row }));
    }
  }
}
